/** Both, sorted. The very first array where it holds all of the second already, so that nothing changes for nothing. */
export function joinLabels(labels: readonly string[], more: readonly string[]): readonly string[] {
  if (hasLabels(labels, more)) return labels;
  return [...new Set([...labels, ...more])].sort();
}

export function hasLabels(labels: readonly string[], required: readonly string[]): boolean {
  return required.every((label) => labels.includes(label));
}
