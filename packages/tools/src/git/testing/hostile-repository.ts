import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONFIG_LISTING, dangerousConfig } from "../dangerous-config.ts";
import type { GitOperationName } from "../git-operations.ts";
import { type GitPrefix, gitPrefix } from "../git-prefix.ts";

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface GitRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HostileOptions {
  /** User that owns the files and runs git, if this process is root. */
  readonly owner?: number;
}

interface Guard extends GitPrefix {
  readonly refusals: readonly string[];
}

/**
 * A repository in its own directory, with a program that leaves a mark when it runs. The mark goes through a named
 * pipe, which can be written even where the file system is mounted read-only.
 */
export class HostileRepository {
  readonly root = mkdtempSync(join(tmpdir(), "narthex-git-"));
  readonly directory = join(this.root, "work");
  readonly bin = join(this.root, "bin");
  /** Program that leaves a mark and copies its input to its output. */
  readonly trap = join(this.bin, "trap-program");
  /** Program for commands that git talks to: it leaves a mark and exits at once. */
  readonly mute = join(this.bin, "mute-program");
  readonly #mark = join(this.root, "mark");
  readonly #marks: number;
  readonly #owner: number | undefined;

  constructor({ owner }: HostileOptions = {}) {
    this.#owner = process.getuid?.() === 0 ? owner : undefined;
    // Another user must be able to enter it.
    chmodSync(this.root, 0o755);
    if (spawnSync("mkfifo", [this.#mark]).status !== 0) throw new Error("there is no `mkfifo` here");
    this.#marks = openSync(this.#mark, constants.O_RDWR | constants.O_NONBLOCK);
    mkdirSync(this.bin);
    this.program(this.trap);
    for (const name of ["mute-program", "git-remote-trapped", "git-merge-trapped"]) {
      writeFileSync(join(this.bin, name), `#!/bin/sh\necho >> '${this.#mark}'\nexit 1\n`, { mode: 0o755 });
    }
    first ??= makeFirst();
    cpSync(first, this.directory, { recursive: true });
  }

  /** Creates a program that leaves the mark and copies its input, as a filter would. */
  program(path: string): void {
    writeFileSync(path, `#!/bin/sh\necho >> '${this.#mark}'\n[ -t 0 ] || cat\n`, { mode: 0o755 });
  }

  write(name: string, content: string): void {
    const path = join(this.directory, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, content);
  }

  config(key: string, value: string): void {
    const dot = key.lastIndexOf(".");
    const [, section = "", name] = /^([^.]*)(?:\.(.*))?$/s.exec(key.slice(0, dot)) ?? [];
    const header = name === undefined ? section : `${section} "${name.replaceAll(/["\\]/g, "\\$&")}"`;
    appendFileSync(join(this.directory, ".git/config"), `[${header}]\n\t${key.slice(dot + 1)} = ${value}\n`);
  }

  /** Runs git without any guard; throws if it fails. */
  git(...args: string[]): string {
    const { status, stdout, stderr } = this.plain(args);
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** Runs git without any guard. */
  plain(args: readonly string[], input = ""): GitRun {
    return this.#run(["git", ...args], { ...this.#environment(), GIT_CONFIG_GLOBAL: "/dev/null" }, input);
  }

  /**
   * Runs many commands in order and returns the standard error of each. One shell starts them faster than this process
   * would.
   */
  plainAll(commands: readonly (readonly string[])[]): string[] {
    const env = { ...this.#environment(), GIT_CONFIG_GLOBAL: "/dev/null" };
    return this.#runAll(commands.map((args) => ({ argv: ["git", ...args], env })));
  }

  /** Runs git with the prefix of the operation and the overrides for the configuration. */
  guarded(operation: GitOperationName, args: readonly string[], input = ""): GitRun {
    const { argv, environment, refusals } = this.#guard(operation);
    if (refusals.length > 0) return { status: null, stdout: "", stderr: refusals.join("\n") };
    return this.#run([...argv, ...args], environment, input);
  }

  /** The same for many commands, with the configuration as it is before the first. */
  guardedAll(commands: readonly (readonly [operation: GitOperationName, args: readonly string[]])[]): void {
    const guards = new Map<GitOperationName, Guard>();
    const runs = commands.map(([operation, args]) => {
      const guard = guards.get(operation) ?? this.#guard(operation);
      guards.set(operation, guard);
      if (guard.refusals.length > 0) throw new Error(guard.refusals.join("\n"));
      return { argv: [...guard.argv, ...args], env: guard.environment };
    });
    this.#runAll(runs);
  }

  #guard(operation: GitOperationName): Guard {
    const { argv, environment } = gitPrefix(operation, { path: this.#environment().PATH, home: this.root });
    const listing = spawnSync("git", [...argv.slice(1), ...CONFIG_LISTING], { cwd: this.directory, env: environment });
    const config = dangerousConfig(listing.stdout, operation);
    return {
      argv: [...argv, ...config.argv],
      environment: { ...environment, ...config.environment },
      refusals: config.refusals,
    };
  }

  /** Runs a command on a terminal, without any guard: only there git uses a pager. */
  terminal(command: readonly string[]): void {
    this.#onTerminal(command, { ...this.#environment(), GIT_CONFIG_GLOBAL: "/dev/null", TERM: "xterm" });
  }

  terminalGuarded(operation: GitOperationName, args: readonly string[]): void {
    const { argv, environment } = this.#guard(operation);
    this.#onTerminal([...argv, ...args], { ...environment, TERM: "xterm" });
  }

  #onTerminal(command: readonly string[], env: Readonly<Record<string, string>>): void {
    this.#run(["script", "-qec", quoted(command), "/dev/null"], env, "q\n");
  }

  /** Whether the program has run since the last call of this method. */
  sprung(): boolean {
    let found = false;
    try {
      while (readSync(this.#marks, Buffer.alloc(4096)) > 0) found = true;
    } catch (fault) {
      if (!(fault instanceof Error && "code" in fault && fault.code === "EAGAIN")) throw fault;
    }
    return found;
  }

  /** Changes the owner of all files, including those written since. */
  own(): void {
    if (this.#owner === undefined) return;
    const { status } = spawnSync("chown", ["-R", "-h", `${this.#owner}:${this.#owner}`, this.root]);
    if (status !== 0) throw new Error("the repository could not be handed over");
  }

  remove(): void {
    closeSync(this.#marks);
    rmSync(this.root, { recursive: true, force: true });
  }

  #environment(): { readonly PATH: string; readonly HOME: string } {
    return { PATH: `${this.bin}:/usr/local/bin:/usr/bin:/bin`, HOME: this.root };
  }

  #runAll(commands: readonly { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> }[]) {
    const mark = `said by no git ${Math.random()}`;
    const lines = commands.map(({ argv, env }) => {
      const assigned = Object.entries(env).map(([name, value]) => `${name}=${quoted([value])}`);
      return `${assigned.join(" ")} ${quoted(argv)} >/dev/null </dev/null; echo '${mark}' >&2\n`;
    });
    const options = { timeout: 60_000, maxBuffer: MAX_OUTPUT_BYTES };
    const { stderr } = this.#run(["/bin/sh"], {}, lines.join(""), options);
    const said = stderr.split(`${mark}\n`);
    if (said.length !== commands.length + 1) throw new Error(`${said.length - 1} of ${commands.length} were run`);
    return said.slice(0, -1);
  }

  #run(
    [program = "", ...args]: readonly string[],
    env: Readonly<Record<string, string>>,
    input: string,
    limits: { readonly timeout: number; readonly maxBuffer?: number } = { timeout: 20_000 },
  ): GitRun {
    this.own();
    const owner = this.#owner === undefined ? {} : { uid: this.#owner, gid: this.#owner };
    const options = { cwd: this.directory, env, input, encoding: "utf8", ...limits, ...owner } as const;
    const { status, stdout, stderr } = spawnSync(program, args, options);
    return { status, stdout, stderr };
  }
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

/** Template that all other repositories are copied from. */
let first: string | undefined;

function makeFirst(): string {
  const root = mkdtempSync(join(tmpdir(), "narthex-git-first-"));
  const directory = join(root, "work");
  mkdirSync(directory);
  process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: root, GIT_CONFIG_GLOBAL: "/dev/null" };
  writeFileSync(join(directory, "file.txt"), "one\n");
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["config", "user.name", "someone"],
    ["config", "user.email", "someone@example.org"],
    ["add", "."],
    ["commit", "-q", "-m", "first"],
  ]) {
    const { status, stderr } = spawnSync("git", args, { cwd: directory, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  }
  return directory;
}
