import { canonicalJsonBytes, KernelError, parseJson } from "@narthex/contracts";
import type { StateChange, Store } from "../ports.ts";

/** Files that the vault placed in workspaces, by their real paths, including the destinations of moved files. */
export interface PlacedFiles {
  /** `path` is relative to the workspace. */
  has(workspace: string, path: string): boolean;
  /** The hash of the content last placed at the path, in lowercase hex. */
  hashAt(workspace: string, path: string): string | undefined;
  /** Adds a file, effective at once. The returned rows must be written before the file is placed. */
  add(workspace: string, path: string, hash: string): readonly StateChange[];
  /** Adds the destinations of all placed files that move along with a path. */
  addMoved(workspace: string, from: string, to: string): readonly StateChange[];
  readonly isEmpty: boolean;
  /** Paths of the placed files of a workspace, relative to it. */
  in(workspace: string): readonly string[];
}

const PREFIX = "vault\n";
/** Maximum number of files to remember. Beyond it, every file is treated as placed by the vault. */
const MAX_PLACED = 10_000;

export async function loadPlacedFiles(store: Store): Promise<PlacedFiles> {
  const rows = await store.listState("meta", PREFIX, MAX_PLACED);
  const placed = new Map(rows.map(({ key, value }) => [key.slice(PREFIX.length), hashFrom(value)]));

  function addPath(path: string, hash: string): readonly StateChange[] {
    if (placed.get(path) === hash || (placed.size >= MAX_PLACED && !placed.has(path))) return [];
    placed.set(path, hash);
    return [{ table: "meta", key: `${PREFIX}${path}`, value: canonicalJsonBytes(hash) }];
  }

  return {
    has: (workspace, path) => placed.size > 0 && (placed.size >= MAX_PLACED || placed.has(join(workspace, path))),
    hashAt: (workspace, path) => placed.get(join(workspace, path)),
    add: (workspace, path, hash) => addPath(join(workspace, path), hash),
    addMoved(workspace, from, to) {
      if (placed.size === 0) return [];
      const [source, destination] = [join(workspace, from), join(workspace, to)];
      const moved = [...placed].filter(([path]) => path === source || path.startsWith(`${source}/`));
      return moved.flatMap(([path, hash]) => addPath(`${destination}${path.slice(source.length)}`, hash));
    },
    get isEmpty() {
      return placed.size === 0;
    },
    in: (workspace) =>
      [...placed.keys()]
        .filter((path) => path.startsWith(`${workspace}/`))
        .map((path) => path.slice(workspace.length + 1)),
  };
}

/** Only this module writes these rows, so a damaged one is an error and never interpreted. */
function hashFrom(value: Uint8Array): string {
  const hash = parseJson(value);
  if (typeof hash === "string") return hash;
  throw new KernelError("STORE_UNAVAILABLE", "a row of a file that the vault placed cannot be read");
}

function join(workspace: string, path: string): string {
  return path === "." ? workspace : `${workspace}/${path}`;
}
