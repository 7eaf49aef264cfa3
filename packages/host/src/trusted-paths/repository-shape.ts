import { foldName, joinPath, splitPath } from "./path-text.ts";

/**
 * Names that make a directory a repository, or decide what git runs in one. Git accepts a directory that contains
 * `HEAD`, `objects` and `refs`, or `HEAD` and a `commondir` that leads to the other two, whatever the directory is
 * called.
 */
const SHAPE_NAMES: ReadonlySet<string> = new Set([
  "head",
  "objects",
  "refs",
  "commondir",
  "config",
  "config.worktree",
  "hooks",
  "info",
]);

/** Names in a directory, each with its kind. */
export type ShapeNames = Iterable<readonly [name: string, kind: "directory" | "link" | "other"]>;

/** Whether git would accept a directory with these names as a repository. */
export function looksLikeRepository(names: ShapeNames): boolean {
  const all = new Set<string>();
  const files = new Set<string>();
  for (const [name, kind] of names) {
    all.add(foldName(name));
    if (kind !== "directory") files.add(foldName(name));
  }
  return files.has("head") && (files.has("commondir") || (all.has("objects") && all.has("refs")));
}

/** A position in a path at which a directory has, or gets, a name that belongs to a repository. */
export interface ShapeStep {
  readonly directory: string;
  readonly name: string;
  /** `directory` if the path continues; the kind of the last part is unknown. */
  readonly kind: "directory" | "other";
}

/** Returns the directories of a path that a write to it could turn into a repository, or that could be one already. */
export function shapeSteps(path: string): ShapeStep[] {
  const parts = splitPath(path);
  return parts.flatMap((name, index) => (SHAPE_NAMES.has(foldName(name)) ? [shapeStep(parts, index)] : []));
}

function shapeStep(parts: readonly string[], index: number): ShapeStep {
  return {
    directory: parts.slice(0, index).join("/") || ".",
    name: parts[index] ?? "",
    kind: index < parts.length - 1 ? "directory" : "other",
  };
}

/** Returns the path of the HEAD file, which every repository has, in the spelling found there. */
export function headPath(directory: string, names: readonly string[]): string {
  return joinPath(directory, names.find((name) => foldName(name) === "head") ?? "HEAD");
}
