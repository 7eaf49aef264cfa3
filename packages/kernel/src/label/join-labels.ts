/**
 * Union of both lists, sorted. Returns the first array itself if it already contains the second, so that callers can
 * tell that nothing changed.
 */
export function joinLabels(labels: readonly string[], more: readonly string[]): readonly string[] {
  if (hasLabels(labels, more)) return labels;
  return [...new Set([...labels, ...more])].sort();
}

export function hasLabels(labels: readonly string[], required: readonly string[]): boolean {
  return required.every((label) => labels.includes(label));
}
