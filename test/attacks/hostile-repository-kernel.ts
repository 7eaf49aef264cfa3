import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, defineTool, type KernelSession, type NarthexKernel } from "narthex";
import { HostileRepository } from "../../packages/tools/src/git/testing/hostile-repository.ts";
import type { Trap } from "../../packages/tools/src/git/testing/trap.ts";
import { OWNER, refusalOf } from "../tools/git-kernel.ts";

/** What came of an operation on a hostile repository: its exit code, or why it was refused. */
export interface Outcome {
  readonly exitCode: number | undefined;
  readonly code: string;
  readonly message: string;
}

/** Git as it is, in the same sandbox: shows that a trap would work there. */
const plainGit = defineTool({
  name: "plain_git",
  description: "Runs a program in the sandbox that git gets, without any guard.",
  source: "builtin",
  isolation: "process",
  inputSchema: {
    type: "object",
    required: ["command", "path", "reads"],
    properties: {
      command: { type: "array", items: { type: "string" } },
      path: { type: "string" },
      reads: { type: "boolean" },
    },
  },
  effects: ["process_spawn", "fs_read", "fs_write"],
  capabilities: [
    { kind: "git", names: [] },
    { kind: "fs_read", prefixes: [] },
    { kind: "fs_write", prefixes: [] },
  ],
  async run({ command, path, reads }, { programs }) {
    const { exitCode } = await programs.run({
      command,
      workingDirectory: "work",
      environment: { PATH: `${path}:/usr/local/bin:/usr/bin:/bin`, GIT_CONFIG_GLOBAL: "/dev/null" },
      timeoutMs: 20_000,
      ...(reads && { access: "read" }),
    });
    return exitCode ?? null;
  },
});

/** A real kernel that is set on one hostile repository after the other. */
export class HostileKernel {
  readonly #kernel: NarthexKernel;
  readonly #root: string;

  private constructor(kernel: NarthexKernel, root: string) {
    this.#kernel = kernel;
    this.#root = root;
  }

  static async open(): Promise<HostileKernel> {
    const root = await mkdtemp(join(tmpdir(), "narthex-hostile-"));
    const kernel = await createKernel({
      data: join(root, "home"),
      tools: [plainGit],
      policies: [{ name: "test.cedar", text: 'permit(principal, action == Action::"plain_git", resource);' }],
      approver: { door: "test", ask: async () => ({ approved: true, approver: "ann" }) },
    });
    return new HostileKernel(kernel, root);
  }

  /** Sets a trap, has git step into it without a guard, and then by the tool. */
  async spring(trap: Trap): Promise<Outcome> {
    return await this.visit(async (repository, session) => {
      trap.set(repository);
      trap.again?.(repository);
      repository.sprung();
      await this.plain(repository, session, ["git", ...trap.args]);
      // What waits for input that a sandboxed program does not get is tried without a sandbox.
      if (!repository.sprung()) {
        trap.again?.(repository);
        repository.plain(trap.args, trap.input);
        assert.equal(repository.sprung(), true, "the trap does not work: git without a guard ran nothing");
      }
      trap.again?.(repository);
      repository.sprung();
      const outcome = await this.git(repository, session, trap.operation, trap.args.slice(1));
      assert.equal(repository.sprung(), false, "the program was run");
      return outcome;
    });
  }

  /** A new repository, `work` in a workspace of its own, and a session there. */
  async visit<T>(inspect: (repository: HostileRepository, session: KernelSession) => Promise<T>): Promise<T> {
    const repository = new HostileRepository(OWNER === undefined ? {} : { owner: OWNER });
    try {
      repository.own();
      const session = await this.#kernel.session({ workspace: repository.root });
      return await inspect(repository, session);
    } finally {
      repository.remove();
    }
  }

  async git(
    repository: HostileRepository,
    session: KernelSession,
    operation: string,
    args: readonly string[],
    cwd = "work",
  ): Promise<Outcome> {
    repository.own();
    const { raw, response } = await session.call("git", { operation, args: [...args], cwd });
    const exitCode =
      typeof raw === "object" && raw !== null && "exit_code" in raw ? Number(raw["exit_code"]) : undefined;
    return { exitCode, ...refusalOf(response) };
  }

  async plain(
    repository: HostileRepository,
    session: KernelSession,
    command: readonly string[],
    reads = false,
  ): Promise<void> {
    repository.own();
    const { response } = await session.call("plain_git", { command: [...command], path: repository.bin, reads });
    const { code, message } = refusalOf(response);
    // A trap that changes what is protected is put back, and that is said.
    assert.ok(code === "success" || code === "UNDECLARED_EFFECT", `${code} ${message}`);
  }

  async close(): Promise<void> {
    await this.#kernel.close();
    await rm(this.#root, { recursive: true, force: true });
  }
}
