/** Maps the digests of recent calls to ids. A digest is computed only if the map is not empty. */
export interface RecentCallIds {
  find(digest: () => string): string | undefined;
  /** An empty id removes the entry. */
  set(digest: () => string, id: string): void;
}

const MAX_CALLS = 256;

export function createRecentCallIds(
  maxAgeMs = Number.POSITIVE_INFINITY,
  nowMs = () => performance.now(),
): RecentCallIds {
  /** Oldest first. */
  const notes = new Map<string, { readonly id: string; readonly atMs: number }>();
  return {
    find(digest) {
      const found = notes.size === 0 ? undefined : notes.get(digest());
      return found !== undefined && nowMs() - found.atMs < maxAgeMs ? found.id : undefined;
    },
    set(digest, id) {
      if (id === "" && notes.size === 0) return;
      const call = digest();
      notes.delete(call);
      if (id !== "") notes.set(call, { id, atMs: nowMs() });
      const [oldest] = notes.keys();
      if (notes.size > MAX_CALLS && oldest !== undefined) notes.delete(oldest);
    },
  };
}
