import type { LabelledWorkspace } from "./workspace-labels.ts";

/** What whoever works in a directory carries: the labels of every directory that it overlaps, sorted. */
export function effectiveLabels(sources: readonly LabelledWorkspace[]): string[] {
  return [...new Set(sources.flatMap(({ labels }) => labels))].sort();
}
