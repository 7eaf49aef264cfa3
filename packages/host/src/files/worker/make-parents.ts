import { closeSync, mkdirSync, rmdirSync } from "node:fs";
import { errnoOf, FileFault } from "./file-fault.ts";
import type { Item } from "./messages.ts";
import { syncDirectory } from "./sync-directory.ts";
import type { Spot } from "./walk.ts";
import { entryPath, isInPlace, statEntry, openDirectory, reopen, type Workspace } from "./workspace.ts";

/** The directory for a new name, created if necessary. */
export interface ReadyDirectory {
  readonly directory: number;
  readonly parents: readonly string[];
  /** Directories that were created, outermost first. */
  readonly made: readonly Item[];
  /** Makes the created directories durable. */
  sync(): Promise<void>;
  /** Removes the created directories that are still empty. */
  undo(): void;
  close(): void;
}

const NEW_DIRECTORY_MODE = 0o755;

export function makeParents(workspace: Workspace, spot: Spot): ReadyDirectory {
  if (!isInPlace(spot.directory, spot.parents)) throw new FileFault("EXECUTION_FAILED", "changed");
  const held = [reopen(workspace, spot.directory)];
  const made: Array<{ readonly parent: number; readonly name: string; readonly item: Item }> = [];
  const current = (): number => held.at(-1) ?? spot.directory;
  const undo = (): void => {
    for (const { parent, name } of made.splice(0).reverse()) tryToRemove(parent, name);
  };
  const close = (): void => {
    for (const directory of held.splice(0)) closeSync(directory);
  };
  try {
    for (const [index, name] of spot.missing.entries()) {
      const parent = current();
      if (makeDirectory(parent, name)) {
        const path = [...spot.parents, ...spot.missing.slice(0, index + 1)].join("/");
        const mode = Number((statEntry(parent, name)?.mode ?? 0n) & 0o7777n);
        made.push({ parent, name, item: { path, state: { kind: "directory", mode } } });
      }
      held.push(openDirectory(workspace, parent, name));
    }
  } catch (fault) {
    undo();
    close();
    throw errnoOf(fault) === "ENOTDIR" ? new FileFault("EXECUTION_FAILED", "changed") : fault;
  }
  return {
    directory: current(),
    parents: [...spot.parents, ...spot.missing],
    made: made.map(({ item }) => item),
    sync: async () => {
      for (const { parent } of made) await syncDirectory(parent);
    },
    undo,
    close,
  };
}

/** Returns false if another process created it first. */
function makeDirectory(parent: number, name: string): boolean {
  try {
    mkdirSync(entryPath(parent, name), NEW_DIRECTORY_MODE);
    return true;
  } catch (fault) {
    if (errnoOf(fault) === "EEXIST") return false;
    throw fault;
  }
}

function tryToRemove(parent: number, name: string): void {
  try {
    rmdirSync(entryPath(parent, name));
  } catch {
    // Another process uses the directory already.
  }
}
