import { canonicalJsonBytes, KernelError, parseJson } from "@narthex/contracts";
import type { EntryDraft } from "../ledger/record-draft.ts";
import type { StateChange, StateRow, Store } from "../ports.ts";
import { hasLabels, joinLabels } from "./join-labels.ts";

/** The labels of one directory. */
export interface LabelledWorkspace {
  readonly workspace: string;
  readonly labels: readonly string[];
}

/** Parts of a record that makes workspace labels durable. */
export interface WorkspaceLabelUpdate {
  readonly entry: EntryDraft;
  /** State row with the labels at the moment the record is created. */
  row(): StateChange;
  /** Called when the record is durable. */
  noteDurable(): void;
}

export interface WorkspaceLabelRemoval extends WorkspaceLabelUpdate {
  /** The removed labels. */
  readonly labels: readonly string[];
}

/**
 * Labels of directories that labelled sessions have written to. They apply to every session in such a directory, in one
 * that contains it, and in one inside it.
 */
export interface WorkspaceLabels {
  /** Labels in force in a workspace. Returns the same array as long as nothing changes. */
  get(workspace: string): readonly string[];
  /** The labelled directories that overlap a workspace. */
  sources(workspace: string): LabelledWorkspace[];
  /** Adds labels to a directory, in force at once. Undefined if a durable record already has all of them. */
  join(workspace: string, labels: readonly string[]): WorkspaceLabelUpdate | undefined;
  /** Removes all labels from exactly this directory. Undefined if it has none. */
  clear(workspace: string, by: string): WorkspaceLabelRemoval | undefined;
}

interface Entry {
  labels: readonly string[];
  durable: readonly string[];
}

/** Maximum number of directories with labels of their own; further labels apply everywhere, see `join`. */
export const MAX_LABELLED_WORKSPACES = 10_000;
const EVERYWHERE = "/";
const NO_LABELS: readonly string[] = Object.freeze([]);

export async function loadWorkspaceLabels(store: Store): Promise<WorkspaceLabels> {
  // One row more than the maximum: the entry for all directories together.
  return new LabelTable(await store.listState("workspaces", "", MAX_LABELLED_WORKSPACES + 1));
}

class LabelTable implements WorkspaceLabels {
  readonly #entries = new Map<string, Entry>();
  /** Labels in force, by workspace. Cleared whenever any label changes. */
  readonly #inForce = new Map<string, readonly string[]>();

  constructor(rows: readonly StateRow[]) {
    for (const { key, value } of rows) {
      const labels = labelsFrom(value);
      this.#entries.set(key, { labels, durable: labels });
    }
  }

  get(workspace: string): readonly string[] {
    if (this.#entries.size === 0) return NO_LABELS;
    const known = this.#inForce.get(workspace);
    if (known !== undefined) return known;
    const labels = this.sources(workspace).reduce((joined, source) => joinLabels(joined, source.labels), NO_LABELS);
    if (this.#inForce.size >= MAX_LABELLED_WORKSPACES) this.#inForce.clear();
    this.#inForce.set(workspace, labels);
    return labels;
  }

  sources(workspace: string): LabelledWorkspace[] {
    const found: LabelledWorkspace[] = [];
    for (const [path, { labels }] of this.#entries) {
      if (overlap(path, workspace)) found.push({ workspace: path, labels });
    }
    return found;
  }

  join(workspace: string, labels: readonly string[]): WorkspaceLabelUpdate | undefined {
    if (labels.length === 0) return undefined;
    // SECURITY: past the maximum, labels apply to every directory, so that an attacker who labels many directories
    // cannot make the kernel forget a label.
    const isFull = this.#entries.size >= MAX_LABELLED_WORKSPACES && !this.#entries.has(workspace);
    const path = isFull ? EVERYWHERE : workspace;
    const entry = this.#entries.get(path) ?? { labels: NO_LABELS, durable: NO_LABELS };
    this.#entries.set(path, entry);
    const joined = joinLabels(entry.labels, labels);
    if (joined !== entry.labels) {
      entry.labels = joined;
      this.#inForce.clear();
    }
    if (hasLabels(entry.durable, labels)) return undefined;
    return {
      entry: { case: "workspaceLabelled", value: { workspace: path, labels: joined } },
      row: () => rowFor(path, this.#entries.get(path)?.labels ?? NO_LABELS),
      noteDurable() {
        entry.durable = joinLabels(entry.durable, joined);
      },
    };
  }

  clear(workspace: string, by: string): WorkspaceLabelRemoval | undefined {
    const entry = this.#entries.get(workspace);
    if (entry === undefined) return undefined;
    // INVARIANT: a late `noteDurable` updates the removed entry, not one that is created after it.
    this.#entries.delete(workspace);
    this.#inForce.clear();
    return {
      entry: { case: "workspaceLabelled", value: { workspace, labels: [], by } },
      row: () => rowFor(workspace, this.#entries.get(workspace)?.labels ?? NO_LABELS),
      noteDurable: () => undefined,
      labels: entry.labels,
    };
  }
}

function rowFor(workspace: string, labels: readonly string[]): StateChange {
  const value = labels.length === 0 ? undefined : canonicalJsonBytes([...labels]);
  return { table: "workspaces", key: workspace, value };
}

/** Only this module writes these rows; a damaged row is an error, never guessed. */
function labelsFrom(value: Uint8Array): readonly string[] {
  const labels = parseJson(value);
  if (Array.isArray(labels) && labels.every((label) => typeof label === "string")) return labels;
  throw new KernelError("STORE_UNAVAILABLE", "the labels of a workspace cannot be read");
}

/** Compares paths by their components: `/a/b` lies in `/a`, `/ab` does not. */
function overlap(left: string, right: string): boolean {
  const [one, other] = [withSlash(left), withSlash(right)];
  return one.startsWith(other) || other.startsWith(one);
}

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}
