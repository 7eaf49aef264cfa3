import { KernelError } from "@narthex/contracts";
import type { ContainedProgram, FileOperation, WorkspaceFiles } from "@narthex/kernel";
import { type SandboxMount, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { pathsForPrograms } from "./protected-paths.ts";
import { type ProtectedScan, type ProtectedState, scanProtected } from "./scan-protected.ts";
import { type Entrance, WorkspaceGate } from "./workspace-gate.ts";
import { type Found, HeldDirectory } from "./walk-workspace.ts";

/** One program's stay in a workspace whose protected paths it must leave as they are. */
export interface GuardedStay {
  readonly guards: readonly SandboxMount[];
  readonly entrance: Entrance;
  /** After the program: takes away what it made among the protected paths. Answers their names. */
  putBack(): Promise<readonly string[]>;
}

const MAX_BASES = 64;
const MAX_LOOKED = 256;
const MAX_ALLOWED = 1000;

/** Keeps the protected paths of workspaces as they are while programs write beside them. */
export class ProtectedWorkspace {
  readonly #paths: readonly string[];
  readonly #files: WorkspaceFiles;
  readonly #gate = new WorkspaceGate();
  /** Directories in which repositories were seen, by workspace. */
  readonly #repositories = new Map<string, Promise<Set<string>>>();
  /** Protected paths that calls were allowed to change, by workspace. */
  readonly #allowed = new Map<string, Set<string>>();

  constructor(paths: readonly string[], files: WorkspaceFiles) {
    this.#paths = paths;
    this.#files = files;
  }

  async begin(
    workspace: string,
    program: ContainedProgram,
    signal: AbortSignal,
    onAsked?: () => void,
  ): Promise<GuardedStay> {
    const bases = await this.#basesFor(workspace, program);
    const scan = { workspace, bases, paths: pathsForPrograms(this.#paths, program.git ?? "guarded") };
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => resolve(), { once: true });
    for (;;) {
      signal.throwIfAborted();
      const state = await scanProtected(scan);
      const entrance = this.#gate.tryEnter(workspace, describeGuards(state.guards), onAsked);
      if (entrance !== undefined) return { guards: state.guards, entrance, putBack: () => this.#putBack(scan, state) };
      await Promise.race([this.#gate.someoneLeft(workspace), aborted]);
    }
  }

  /** A call may change this path: a program that runs meanwhile is not blamed for it. */
  allowChange(workspace: string, path: string): void {
    const allowed = this.#allowed.get(workspace) ?? new Set();
    if (allowed.size >= MAX_ALLOWED) allowed.clear();
    allowed.add(path);
    this.#allowed.set(workspace, allowed);
  }

  /** What was made goes; a link that was changed or taken away comes back. Files and directories cannot be: see guards. */
  async #putBack(scan: ProtectedScan, { present: before, guards }: ProtectedState): Promise<readonly string[]> {
    const { workspace } = scan;
    const { present: after } = await scanProtected(scan);
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => !isSame(before.get(path), after.get(path)) && !this.#isAllowed(workspace, path),
    );
    const made = changed.filter((path) => after.has(path));
    const taken = new Set(made.map((path) => (isNewRepository(path, guards) ? repositoryOf(path) : path)));
    for (const path of taken) await this.#do(workspace, { kind: "delete", path, recursive: true });
    for (const path of changed) {
      const target = before.get(path)?.target;
      if (target === undefined) continue;
      const [expected, link] = [{ kind: "absent" }, { kind: "link", target }] as const;
      await this.#do(workspace, { kind: "restore", path, expected, before: link, content: undefined });
    }
    return changed;
  }

  #isAllowed(workspace: string, path: string): boolean {
    const allowed = this.#allowed.get(workspace);
    if (allowed === undefined) return false;
    return [...allowed].some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`));
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
      if (known.size < MAX_BASES) known.add(repository);
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

function isSame(one: Found | undefined, other: Found | undefined): boolean {
  return (
    one?.kind === other?.kind &&
    one?.device === other?.device &&
    one?.inode === other?.inode &&
    one?.target === other?.target
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
