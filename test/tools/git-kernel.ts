import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, ToolResponse } from "@narthex/contracts";
import { createKernel, type KernelSession, type NarthexKernel } from "narthex";

/** Whom workspaces belong to where this process is root: sandboxes never run as root. */
export const OWNER = process.getuid?.() === 0 ? 1000 : undefined;

/** What the tool answered of one run of git. */
export interface GitAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly raw: JsonObject;
}

/** A real kernel with a session on a workspace, and git outside it. */
export interface GitKernel {
  readonly kernel: NarthexKernel;
  readonly session: KernelSession;
  readonly workspace: string;
  readonly root: string;
  /** What was put to the person who is asked, in order. */
  readonly asked: string[];
  /** What that person says from now on. */
  approve: boolean;
  /** By the tool; expects that it ran. */
  git(operation: string, args?: readonly string[], cwd?: string): Promise<GitAnswer>;
  /** By the tool; expects that it did not answer, and gives the code. */
  refusal(operation: string, args?: readonly string[], cwd?: string): Promise<{ code: string; message: string }>;
  /** Outside of any sandbox, as the workspace's owner. */
  host(cwd: string, ...args: string[]): string;
  /** Gives everything in the workspace to its owner. */
  own(): void;
  /** By shell_exec: whether it ended well, and what it printed. */
  shell(command: string): Promise<GitAnswer>;
  close(): Promise<void>;
}

export async function openGitKernel(): Promise<GitKernel> {
  const root = await mkdtemp(join(tmpdir(), "narthex-git-"));
  await chmod(root, 0o755);
  const workspace = join(root, "workspace");
  await mkdir(workspace);
  const asked: string[] = [];
  const kernel = await createKernel({
    data: join(root, "home"),
    approver: {
      door: "test",
      ask: async ({ tool }) => {
        asked.push(tool);
        return { approved: opened.approve, approver: "ann" };
      },
    },
  });
  const owner = OWNER === undefined ? {} : { uid: OWNER, gid: OWNER };

  function own(): void {
    if (OWNER === undefined) return;
    assert.equal(spawnSync("chown", ["-R", "-h", `${OWNER}:${OWNER}`, workspace]).status, 0);
  }

  own();
  const session = await kernel.session({ workspace });
  const opened: GitKernel = {
    kernel,
    session,
    workspace,
    root,
    asked,
    approve: true,
    own,
    git: async (operation, args = [], cwd = "") => answerOf(await session.call("git", inputOf(operation, args, cwd))),
    async refusal(operation, args = [], cwd = "") {
      // A session that violates too much is locked up, and here that is not the question.
      const other = await kernel.session({ workspace });
      return refusalOf((await other.call("git", inputOf(operation, args, cwd))).response);
    },
    shell: async (command) => answerOf(await session.call("shell_exec", { command })),
    host(cwd, ...args) {
      own();
      const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: root, GIT_CONFIG_GLOBAL: "/dev/null", ...PERSON };
      const options = { cwd: join(workspace, cwd), env, encoding: "utf8", ...owner } as const;
      const { status, stdout, stderr } = spawnSync("git", ["-c", "protocol.file.allow=always", ...args], options);
      assert.equal(status, 0, `git ${args.join(" ")}: ${stderr}`);
      return stdout;
    },
    async close() {
      await kernel.close();
      await rm(root, { recursive: true, force: true });
    },
  };
  return opened;
}

const PERSON = {
  GIT_AUTHOR_NAME: "ann",
  GIT_AUTHOR_EMAIL: "ann@example.org",
  GIT_COMMITTER_NAME: "ann",
  GIT_COMMITTER_EMAIL: "ann@example.org",
};

function inputOf(operation: string, args: readonly string[], cwd: string): JsonObject {
  return { operation, ...(args.length > 0 && { args: [...args] }), ...(cwd !== "" && { cwd }) };
}

function answerOf({ raw, response }: { readonly raw: unknown; readonly response: ToolResponse }): GitAnswer {
  assert.ok(response.result.case === "success", JSON.stringify(refusalOf(response)));
  assert.ok(isRecord(raw));
  const { exit_code: exitCode, stdout, stderr } = raw;
  assert.ok(typeof exitCode === "number" && isRecord(stdout) && isRecord(stderr));
  return { exitCode, stdout: String(stdout["text"]), stderr: String(stderr["text"]), raw };
}

export function refusalOf({ result }: ToolResponse): { code: string; message: string } {
  if (result.case === "error") return { code: result.value.errorCode, message: result.value.message };
  if (result.case === "denied") return { code: result.value.rationaleCode, message: result.value.message };
  return { code: String(result.case), message: "" };
}

function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
