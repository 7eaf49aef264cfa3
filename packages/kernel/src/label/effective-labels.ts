import type { LabelledWorkspace } from "./workspace-labels.ts";

/** Labels in force in a directory: those of every labelled directory that overlaps it, sorted. */
export function effectiveLabels(sources: readonly LabelledWorkspace[]): string[] {
  return [...new Set(sources.flatMap(({ labels }) => labels))].sort();
}
