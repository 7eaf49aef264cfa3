import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { access, rm } from "node:fs/promises";
import { join } from "node:path";
import type { GetKernelResponse } from "@narthex/contracts";
import { openProcessClient, type ProcessClient } from "../../packages/narthex/src/connection/process-client.ts";
import { VERSION } from "../../packages/narthex/src/version.ts";
import { kernelsOf } from "../../scripts/build/on-demand-kernels.ts";
import { ended, type Serving } from "../../test/cli/home.ts";
import { connectLines, type LineClient } from "../../test/doors/mcp/line-client.ts";
import { openOtherVersions } from "../../test/doors/mcp/other-version.ts";
import { createSharedHome, holderOf, until } from "../../test/doors/mcp/shared-home.ts";
import type { Chance } from "../chance/chance.ts";

export const VERSIONS: readonly string[] = ["0.0.9", VERSION, "99.0.0"];

/** A home, its clients and whatever is its kernel. */
export type World = Awaited<ReturnType<typeof openWorld>>;

interface RunningCommand {
  /** Lets the command come to its end. */
  release(): Promise<void>;
  /** Throws unless it came to its end, or may have been lost with its kernel. */
  expectEnd(expected: { readonly mayBeLost: boolean }): Promise<void>;
}

const MAX_CLIENTS = 4;
/** An answer that takes longer counts as missing. */
const PATIENCE_MS = 60_000;

export async function openWorld() {
  const versions = await openOtherVersions();
  const at = await createSharedHome();
  const programs = new Map([[VERSION, Promise.resolve(versions.program)]]);
  const clients = new Set<LineClient>();
  let serving: Serving | undefined;
  let made = 0;

  function programOf(version: string): Promise<string> {
    const program = programs.get(version) ?? versions.copyAs(version, at.root);
    programs.set(version, program);
    return program;
  }

  async function startClient(version: string): Promise<LineClient> {
    const words = [await programOf(version), "mcp", "--workspace", at.workspace];
    const env = { HOME: at.root, NARTHEX_DATA: at.home, PATH: process.env["PATH"] ?? "" };
    const stdio: ["pipe", "pipe", "pipe"] = ["pipe", "pipe", "pipe"];
    const child = spawn(process.execPath, words, { cwd: at.root, env, stdio, detached: true });
    const client = await inTime(connectLines(child), "a client's greeting");
    clients.add(client);
    return client;
  }

  async function end(client: LineClient, harm: (client: LineClient) => void): Promise<void> {
    clients.delete(client);
    harm(client);
    await inTime(ended(client.child), "a client's end");
  }

  /** A command that waits for a file to go, once it is known to run. */
  async function beginCommand(client: LineClient): Promise<RunningCommand> {
    const name = `running-${made++}`;
    const path = join(at.workspace, name);
    const command = `echo > ${name}; while [ -e ${name} ]; do sleep 0.02; done; echo came to its end`;
    const answer = client.call("shell_exec", { command, timeout_ms: 300_000 });
    answer.catch(() => undefined);
    await inTime(
      until(() => exists(path)),
      "a command's beginning",
    );
    return {
      release: () => rm(path, { force: true }),
      async expectEnd({ mayBeLost }) {
        const text = await inTime(answer, "a command's answer");
        if (mayBeLost && !/came to its end/.test(text)) return;
        assert.match(text, /came to its end/);
      },
    };
  }

  return {
    startClient,
    end,
    beginCommand,
    get versionOfKernel() {
      return serving === undefined ? "" : VERSION;
    },
    /** A client that is there, or a new one. The oldest make room. */
    async clientFor(chance: Chance): Promise<LineClient> {
      for (const client of clients) {
        if (clients.size <= MAX_CLIENTS) break;
        await end(client, ({ child }) => void child.stdin.end());
      }
      return clients.size > 0 && !chance.oneIn(3) ? chance.pick([...clients]) : startClient(chance.pick(VERSIONS));
    },
    async beginForeverCommand(client: LineClient): Promise<void> {
      const name = `forever-${made++}`;
      client.call("shell_exec", { command: `echo > ${name}; sleep 900`, timeout_ms: 300_000 }).catch(() => undefined);
      await inTime(
        until(() => exists(join(at.workspace, name))),
        "a command's beginning",
      );
    },
    async echoAll(): Promise<number> {
      const asked = [...clients].map(async (client, n) => {
        const text = await inTime(client.call("echo", { text: `hello ${n}` }), "an answer");
        assert.match(text, new RegExp(`hello ${n}`));
      });
      await Promise.all(asked);
      return asked.length;
    },
    async killKernel(): Promise<void> {
      const kernel = await holderOf(at);
      process.kill(kernel, "SIGKILL");
      if (serving?.child.pid === kernel) serving = undefined;
    },
    async stopKernel(): Promise<void> {
      if (serving === undefined) await at.ask(["stop"]);
    },
    async serve(): Promise<void> {
      serving ??= await inTime(at.serve(), "the start of serve");
    },
    async stopServing(): Promise<void> {
      const stopped = serving;
      serving = undefined;
      if (stopped !== undefined) assert.equal(await inTime(stopped.stop(), "the end of serve"), 0);
    },
    /** In the end one process holds the home, all clients are attached to it, and no other kernel stays. */
    async expectOneKernel(): Promise<void> {
      const isOne = async (): Promise<boolean> => {
        const holder = await holderOf(at).catch(() => 0);
        const started = await kernelsOf(at.home);
        if (serving === undefined ? started.join() !== String(holder) : started.length > 0) return false;
        // A newer client may have replaced the kernel that an older one has just started.
        const attached = await lookAtKernel(at.home);
        return attached?.pid === holder && attached.clients >= clients.size;
      };
      await inTime(until(isOne), "one kernel with all clients");
    },
    async close(): Promise<void> {
      for (const { child } of clients) child.kill("SIGKILL");
      serving?.child.kill("SIGKILL");
      await at.remove();
      await versions[Symbol.asyncDispose]();
    },
  };
}

/** Asked in this process: a command for each look would take the processor from what is waited for. */
async function lookAtKernel(home: string): Promise<GetKernelResponse | undefined> {
  let client: ProcessClient | undefined;
  try {
    client = await openProcessClient(home);
    return await client.getKernel();
  } catch {
    return undefined;
  } finally {
    client?.close();
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come within ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
