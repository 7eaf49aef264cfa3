import type { StoredFileTrace, FileState, ReplayContent } from "@narthex/kernel";
import { FileFault } from "../worker/file-fault.ts";
import { partsContent, type RecordedPart, type VirtualContent, wholeContent } from "./virtual-content.ts";

export type VirtualNode =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly content: VirtualContent; readonly mode: number }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" };

type Open = (hash: string) => Promise<ReplayContent | undefined>;

export const ABSENT = { kind: "absent" } as const;
const NEW_DIRECTORY: VirtualNode = { kind: "directory", mode: 0o755 };
const READ_MODE = 0o644;

/**
 * The files that a call read, replaced or deleted, in their state before the call. Parent directories exist unless the
 * call had to create them; nothing else is known.
 */
export class VirtualTree {
  readonly #nodes = new Map<string, VirtualNode>();
  readonly #through: ReadonlyMap<string, string>;

  constructor(record: StoredFileTrace, open: Open) {
    this.#through = new Map(record.resolvedLinks.map(({ named, opened }) => [named, opened]));
    for (const { path, before } of record.changed) {
      // If a path was changed twice, the state before the first change counts.
      if (!this.#nodes.has(path)) this.#nodes.set(path, nodeOf(before, open));
    }
    for (const [path, parts] of partsByPath(record)) {
      if (!this.#nodes.has(path)) this.#nodes.set(path, readNode(parts, open));
    }
  }

  /** Resolves a path through the recorded links. */
  resolve(path: string): string {
    return this.#through.get(path) ?? path;
  }

  at(path: string): VirtualNode {
    const known = this.#nodes.get(path);
    if (known !== undefined) return known;
    return path === "." || this.#isAbove(path) ? NEW_DIRECTORY : ABSENT;
  }

  set(path: string, node: VirtualNode): void {
    this.#nodes.set(path, node);
  }

  /** Returns paths in the order of the record. */
  below(path: string): string[] {
    return [...this.#nodes].filter(([name, { kind }]) => name.startsWith(`${path}/`) && kind !== "absent").map(first);
  }

  /**
   * Directories that must be created for a path, outermost first. Throws NOT_A_DIRECTORY if a parent is something else.
   */
  missingParents(path: string): string[] {
    const parts = path.split("/").slice(0, -1);
    const missing: string[] = [];
    for (let count = 1; count <= parts.length; count++) {
      const parent = parts.slice(0, count).join("/");
      const known = this.#nodes.get(parent);
      if (known?.kind === "absent") missing.push(parent);
      else if (known !== undefined && known.kind !== "directory") throw new FileFault("NOT_A_DIRECTORY");
    }
    return missing;
  }

  move(source: string, destination: string): void {
    const node = this.at(source);
    for (const path of this.below(source)) {
      this.#nodes.set(`${destination}${path.slice(source.length)}`, this.at(path));
      this.#nodes.set(path, ABSENT);
    }
    this.#nodes.set(source, ABSENT);
    this.#nodes.set(destination, node);
  }

  #isAbove(path: string): boolean {
    for (const [name, { kind }] of this.#nodes) {
      if (kind !== "absent" && name.startsWith(`${path}/`)) return true;
    }
    return false;
  }
}

export function stateOf(node: VirtualNode): FileState {
  if (node.kind !== "file") return node;
  const { hash, size } = node.content;
  return { kind: "file", hash, size, mode: node.mode };
}

function nodeOf(state: FileState, open: Open): VirtualNode {
  if (state.kind !== "file") return state;
  return { kind: "file", mode: state.mode, content: wholeContent(state, () => open(state.hash)) };
}

interface KnownPart {
  readonly offset: number;
  readonly size: number;
  readonly hash: string;
  readonly of?: number;
}

function partsByPath({ read }: StoredFileTrace): Map<string, KnownPart[]> {
  const byPath = new Map<string, KnownPart[]>();
  for (const { path, ...part } of read) {
    const parts = byPath.get(path);
    if (parts === undefined) byPath.set(path, [part]);
    else parts.push(part);
  }
  return byPath;
}

function readNode(known: readonly KnownPart[], open: Open): VirtualNode {
  const size = Math.max(...known.map(({ offset, size: length, of = offset + length }) => of));
  const whole = known.find((part) => part.offset === 0 && part.size === size);
  // Longest first, because a short read may have stopped early.
  const parts: RecordedPart[] = known
    .toSorted((one, other) => other.size - one.size)
    .map(({ offset, size: length, hash }) => ({ offset, size: length, open: () => open(hash) }));
  return { kind: "file", mode: READ_MODE, content: partsContent(size, whole?.hash ?? "", parts) };
}

function first<T>([value]: readonly [T, ...unknown[]]): T {
  return value;
}
