import { isKernelError } from "@narthex/contracts";
import type { FileState } from "../workspace-files.ts";
import { runOperation, type UndoPlace } from "./apply-step.ts";

const ABSENT: FileState = { kind: "absent" };
const MAX_ENTRIES = 10_000;

/** A workspace as it would be after some steps, without applying them. */
export class VirtualTree {
  readonly #place: UndoPlace;
  /** Paths whose state differs from the disk. */
  #states = new Map<string, FileState>();
  /** Moved paths, oldest first. */
  readonly #moves: { readonly from: string; readonly to: string }[] = [];

  constructor(place: UndoPlace) {
    this.#place = place;
  }

  async stateAt(path: string): Promise<FileState> {
    const known = this.#states.get(path);
    if (known !== undefined) return known;
    for (let parent = parentOf(path); parent !== undefined; parent = parentOf(parent)) {
      const state = this.#states.get(parent);
      if (state !== undefined && state.kind !== "directory") return ABSENT;
    }
    return await this.#inspect(this.#placeOnDisk(path));
  }

  set(path: string, state: FileState): void {
    this.#states.set(path, state);
  }

  /** Moves a path with everything in it. */
  move(from: string, to: string, state: FileState): void {
    this.#states = new Map(
      [...this.#states].map(([path, known]) => [
        path.startsWith(`${from}/`) ? `${to}${path.slice(from.length)}` : path,
        known,
      ]),
    );
    this.#moves.push({ from, to });
    this.#states.set(to, state);
    this.#states.set(from, ABSENT);
  }

  /** First entry that the directory would still have, if any: a directory that is not empty cannot be removed. */
  async firstIn(directory: string): Promise<string | undefined> {
    const operation = {
      kind: "list",
      path: this.#placeOnDisk(directory),
      depth: 1,
      glob: undefined,
      hidden: true,
      limit: MAX_ENTRIES,
    } as const;
    const answer = await runOperation(operation, "read", this.#place).catch(absentAs(undefined));
    for (const { name } of answer?.kind === "list" ? answer.entries : []) {
      const path = `${directory}/${name}`;
      if ((await this.stateAt(path)).kind !== "absent") return path;
    }
    for (const [path, { kind }] of this.#states) {
      if (path.startsWith(`${directory}/`) && kind !== "absent") return path;
    }
    return undefined;
  }

  /** Path on disk of the entry that would be at this path. */
  #placeOnDisk(path: string): string {
    return this.#moves.reduceRight(
      (at, { from, to }) => (at === to || at.startsWith(`${to}/`) ? `${from}${at.slice(to.length)}` : at),
      path,
    );
  }

  async #inspect(path: string): Promise<FileState> {
    const answer = await runOperation({ kind: "inspect", path }, "read", this.#place).catch(absentAs(undefined));
    return answer?.kind === "inspect" ? answer.state : ABSENT;
  }
}

function parentOf(path: string): string | undefined {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? undefined : path.slice(0, slash);
}

/** A path without a parent directory counts as absent. */
function absentAs<T>(value: T): (fault: unknown) => T {
  return (fault) => {
    if (isKernelError(fault) && (fault.code === "FILE_NOT_FOUND" || fault.code === "NOT_A_DIRECTORY")) return value;
    throw fault;
  };
}
