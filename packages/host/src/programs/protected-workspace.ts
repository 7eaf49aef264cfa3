import { blake3, KernelError, toHex } from "@narthex/contracts";
import type { ContainedProgram, FileOperation, FileState, WorkspaceFiles } from "@narthex/kernel";
import { type SandboxMount, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import type { MadePaths } from "./take-away.ts";
import { type ProtectedScan, type ProtectedState, scanProtected } from "./scan-protected.ts";
import { type Entrance, WorkspaceGate } from "./workspace-gate.ts";
import { type Found, HeldDirectory } from "./walk-workspace.ts";

/** One program's stay in a workspace whose protected paths it must leave as they are. */
export interface GuardedStay {
  readonly guards: readonly SandboxMount[];
  readonly entrance: Entrance;
  /** Whether what is there would be guarded as it was at the beginning. If not, the program must end: see the gate. */
  isCurrent(): Promise<boolean>;
  /** The same of a lasting program that rested: what was changed meanwhile was somebody else's doing, and stays. */
  renew(): Promise<boolean>;
  /** The program rested up to its end: nothing is put back for it. */
  vouch(): void;
  /** After the program, or while a lasting one rests: takes away what it made among the protected paths. Answers their names. */
  putBack(): Promise<readonly string[]>;
}

const REPOSITORY = ".git";
const MAX_BASES = 256;
const MAX_LOOKED = 4096;

/** Keeps the protected paths of workspaces as they are while programs write beside them. */
export class ProtectedWorkspace {
  readonly #paths: readonly string[];
  readonly #files: WorkspaceFiles;
  readonly #takeAway: (made: MadePaths) => Promise<string>;
  readonly #gate = new WorkspaceGate();
  /** Directories in which repositories were seen, by workspace. */
  readonly #repositories = new Map<string, Promise<Set<string>>>();
  /** Programs that are at work, and what calls beside them were allowed to change meanwhile. */
  readonly #stays = new Set<Stay>();

  /** `takeAway` moves what was made aside, and answers where it is. */
  constructor(paths: readonly string[], files: WorkspaceFiles, takeAway: (made: MadePaths) => Promise<string>) {
    this.#paths = paths;
    this.#files = files;
    this.#takeAway = takeAway;
  }

  async begin(
    workspace: string,
    program: ContainedProgram,
    signal: AbortSignal,
    onAsked?: () => void,
  ): Promise<GuardedStay> {
    const bases = await this.#basesFor(workspace, program);
    // A repository's own files must be writable for git to work: of them only some are guarded.
    const paths = this.#paths.filter((path) => path !== REPOSITORY);
    const git = paths.length < this.#paths.length ? (program.git ?? "guarded") : undefined;
    const scan = { workspace, bases, paths, git };
    let state: ProtectedState = { present: new Map(), guards: [] };
    const look = async (): Promise<string> => {
      state = await scanProtected(scan);
      return describeGuards(state.guards);
    };
    const entrance = await this.#enter(workspace, look, signal, onAsked);
    const { guards } = state;
    const stay: Stay = { workspace, before: state, isVouchedFor: false, allowed: new Set() };
    this.#stays.add(stay);
    entrance.left.then(() => this.#stays.delete(stay)).catch(() => undefined);
    return {
      guards,
      entrance,
      isCurrent: async () => describeGuards((await scanProtected(scan)).guards) === describeGuards(guards),
      renew: async () => {
        stay.before = await scanProtected(scan);
        return describeGuards(stay.before.guards) === describeGuards(guards);
      },
      vouch: () => {
        stay.isVouchedFor = true;
      },
      putBack: async () => (stay.isVouchedFor ? [] : await this.#putBack(scan, stay)),
    };
  }

  /** A program that may change everything: alone, because others rely on what is guarded. */
  async beginUnguarded(workspace: string, signal: AbortSignal, onAsked?: () => void): Promise<GuardedStay> {
    const entrance = await this.#enter(workspace, () => Promise.resolve("unguarded"), signal, onAsked);
    const isTrue = (): Promise<boolean> => Promise.resolve(true);
    const putBack = (): Promise<readonly string[]> => Promise.resolve([]);
    return { guards: [], entrance, isCurrent: isTrue, renew: isTrue, vouch: () => undefined, putBack };
  }

  /** Looks again each time somebody has left: what is to be guarded may have changed meanwhile. */
  async #enter(
    workspace: string,
    look: () => Promise<string>,
    signal: AbortSignal,
    onAsked: (() => void) | undefined,
  ): Promise<Entrance> {
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    const abort = (): void => resolve();
    signal.addEventListener("abort", abort, { once: true });
    try {
      for (;;) {
        signal.throwIfAborted();
        const entrance = this.#gate.tryEnter(workspace, await look(), onAsked);
        if (entrance !== undefined) return entrance;
        await Promise.race([this.#gate.someoneLeft(workspace), aborted]);
      }
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** A call may change this path: a program that runs meanwhile is not blamed for it. */
  allowChange(workspace: string, path: string): void {
    for (const stay of this.#stays) if (stay.workspace === workspace) stay.allowed.add(path);
  }

  /** What was made goes; a link that was changed or taken away comes back. Files and directories cannot be: see guards. */
  async #putBack(scan: ProtectedScan, { before: state, allowed }: Stay): Promise<readonly string[]> {
    const { present: before, guards } = state;
    const { workspace } = scan;
    const { present: after } = await scanProtected(scan);
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => !isSame(before.get(path), after.get(path)) && !isAllowed(allowed, path),
    );
    const written = changed.filter(
      (path) => before.get(path)?.content !== undefined && after.get(path)?.kind === "file",
    );
    const made = changed.filter((path) => after.has(path) && !written.includes(path));
    const taken = new Set(made.map((path) => (isNewRepository(path, guards) ? repositoryOf(path) : path)));
    const place = taken.size === 0 ? "" : await this.#takeAway({ workspace, paths: [...taken], guards });
    for (const path of changed) {
      const restoring = restoration(path, before.get(path), written.includes(path) ? after.get(path) : undefined);
      if (restoring !== undefined) await this.#do(workspace, restoring);
    }
    return place === "" ? changed : [...changed, `kept in ${place}`];
  }

  async #do(workspace: string, operation: FileOperation & { readonly path: string }): Promise<void> {
    const { signal } = new AbortController();
    try {
      await (await this.#files.prepare({ workspace, access: "write" }, operation, signal)).commit();
    } catch (cause) {
      const message = `\`${operation.path}\` is protected, was changed, and could not be put back`;
      throw new KernelError("SANDBOX_ERROR", message, { cause });
    }
  }

  /** The root, the directories down to where the program starts, and repositories that were seen before. */
  async #basesFor(workspace: string, program: ContainedProgram): Promise<string[]> {
    const known = await this.#repositoriesOf(workspace);
    for (const repository of program.repositories ?? []) {
      if (known.size >= MAX_BASES && !known.has(repository)) {
        // SECURITY: one more would not be guarded.
        throw new KernelError("RESOURCE_EXCEEDED", `a workspace has at most ${MAX_BASES} repositories in use`);
      }
      known.add(repository);
    }
    const bases = new Set([".", ...known]);
    let path = "";
    for (const part of program.workingDirectory === "." ? [] : program.workingDirectory.split("/")) {
      path = path === "" ? part : `${path}/${part}`;
      bases.add(path);
    }
    return [...bases].sort();
  }

  /** Looked for once, in the root's own directories; others become known when somebody works in them. */
  #repositoriesOf(workspace: string): Promise<Set<string>> {
    const known = this.#repositories.get(workspace);
    if (known !== undefined) return known;
    const finding = findRepositories(workspace);
    this.#repositories.set(workspace, finding);
    finding.catch(() => this.#repositories.delete(workspace));
    return finding;
  }
}

/** A repository that was not there before goes as a whole: without its configuration it is no use to anyone. */
function isNewRepository(path: string, guards: readonly SandboxMount[]): boolean {
  const repository = repositoryOf(path);
  return repository !== "" && !guards.some(({ target }) => target === `${WORKSPACE_PATH}/${repository}`);
}

/** The path up to its first `.git`; empty if it has none. */
function repositoryOf(path: string): string {
  const parts = path.split("/");
  const at = parts.findIndex((part) => part.toLowerCase() === ".git");
  return at === -1 ? "" : parts.slice(0, at + 1).join("/");
}

/** One program's stay. SECURITY: what was allowed is allowed for as long as it lasts, and for no program after it. */
interface Stay {
  readonly workspace: string;
  before: ProtectedState;
  isVouchedFor: boolean;
  readonly allowed: Set<string>;
}

function isAllowed(allowed: ReadonlySet<string>, path: string): boolean {
  return [...allowed].some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`));
}

/** How to bring back a link, or a file that was written by another of its names. */
function restoration(
  path: string,
  was: Found | undefined,
  is: Found | undefined,
): (FileOperation & { readonly path: string }) | undefined {
  if (was?.target !== undefined) {
    // Compared byte by byte, written as text.
    const target = Buffer.from(was.target, "latin1").toString("utf8");
    const [expected, before] = [{ kind: "absent" }, { kind: "link", target }] as const;
    return { kind: "restore", path, expected, before, content: undefined };
  }
  if (was?.content === undefined || is?.content === undefined) return undefined;
  return { kind: "restore", path, expected: stateOf(is), before: stateOf(was), content: was.content };
}

function stateOf({ content = Buffer.alloc(0), mode }: Found): FileState {
  return { kind: "file", hash: toHex(blake3(content)), size: content.length, mode };
}

function isSame(one: Found | undefined, other: Found | undefined): boolean {
  return (
    one?.kind === other?.kind &&
    one?.device === other?.device &&
    one?.inode === other?.inode &&
    one?.target === other?.target &&
    (one?.content === undefined || other?.content === undefined || one.content.equals(other.content))
  );
}

function describeGuards(guards: readonly SandboxMount[]): string {
  return guards.map(({ target, access, guard }) => `${target} ${access} ${guard?.inode}`).join("\n");
}

async function findRepositories(workspace: string): Promise<Set<string>> {
  const found = new Set<string>();
  const root = await HeldDirectory.open(workspace);
  try {
    for (const name of (await root.names()).slice(0, MAX_LOOKED)) {
      const directory = await root.enter(name);
      if (directory === undefined) continue;
      try {
        if ((await directory.look(".git")) !== undefined && found.size < MAX_BASES) found.add(name);
      } finally {
        await directory.close();
      }
    }
  } finally {
    await root.close();
  }
  return found;
}
