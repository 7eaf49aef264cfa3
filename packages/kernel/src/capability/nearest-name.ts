/** Returns the known name that a misspelt one most likely means, or undefined if none is close. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  // A long text is not a misspelling, and comparing it with every known name would take time in proportion to its
  // length.
  if (name.length > 64) return undefined;
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate);
    if (distance < least && distance <= Math.ceil(candidate.length / 2)) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
