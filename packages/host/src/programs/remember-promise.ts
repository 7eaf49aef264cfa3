/** More keys than a kernel serves at once; at the limit the cache starts again. */
const MAX_KEYS = 256;

/** Returns the promise cached for a key, or makes and caches one. A promise that rejects is not kept. */
export function rememberPromise<T>(cache: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = cache.get(key);
  if (found !== undefined) return found;
  const made = make();
  if (cache.size >= MAX_KEYS) cache.clear();
  cache.set(key, made);
  made.catch(() => cache.delete(key));
  return made;
}
