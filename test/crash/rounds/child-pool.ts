import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { kernelProgram } from "../../built/kernel-program.ts";
import type { KilledAt } from "./kill-point.ts";
import type { Orders } from "./loaded-kernel.ts";

const PROGRAM = new URL("./loaded-kernel.ts", import.meta.url);

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** What was heard of a kernel before it was killed. */
export interface Heard {
  readonly killedAt: KilledAt;
  /** It got as far as opening its doors. */
  readonly isReady: boolean;
  /** Ids of the calls it began to make, in order. */
  readonly issued: readonly string[];
  readonly answers: readonly (readonly [requestId: string, answer: string])[];
}

/** Processes that have loaded their code and wait for orders, since that takes longer than all they do. */
export interface ChildPool {
  /** Has one process work until it is killed. */
  run(orders: Orders): Promise<Heard>;
  close(): Promise<void>;
}

export async function createChildPool(size: number): Promise<ChildPool> {
  const cache = await mkdtemp(join(tmpdir(), "narthex-compiled-"));
  const env = { NODE_COMPILE_CACHE: cache, ...process.env };
  const idle: Child[] = [];
  const refill = (): void => {
    while (idle.length < size)
      idle.push(spawn(process.execPath, kernelProgram(PROGRAM), { env, stdio: ["pipe", "pipe", "pipe"] }));
  };
  refill();
  return {
    run(orders) {
      const child = idle.shift();
      assert.ok(child);
      refill();
      return order(child, orders);
    },
    async close() {
      await Promise.all(
        idle.splice(0).map((child) => {
          child.kill("SIGKILL");
          return new Promise((resolve) => child.once("exit", resolve));
        }),
      );
      await rm(cache, { recursive: true, force: true });
    },
  };
}

async function order(child: Child, orders: Orders): Promise<Heard> {
  const { kill } = orders;
  const problems = text(child.stderr);
  const issued: string[] = [];
  const answers: [string, string][] = [];
  let isReady = false;
  let killedAt: KilledAt | undefined;
  const killAfter = (delayMs: number): void => void setTimeout(() => child.kill("SIGKILL"), delayMs);

  const exited = new Promise<NodeJS.Signals | null>((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  child.stdin.on("error", () => undefined);
  child.stdin.end(`${JSON.stringify(orders)}\n`);
  if (kill.at === "start") killAfter(kill.count);
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, requestId = "", ...answer] = line.split(" ");
    if (word === "i") issued.push(requestId);
    else if (word === "a") answers.push([requestId, answer.join(" ")]);
    else if (word === "killed") killedAt = requestId as KilledAt;
    else if (word === "ready") isReady = true;
    else assert.equal(line, "closing");
    if ((kill.at === "moment" && word === "ready") || (kill.at === "close" && word === "closing"))
      killAfter(kill.count);
  }
  assert.equal(await exited, "SIGKILL", `a kernel ended by itself: ${await problems}`);
  assert.equal(await problems, "");
  return { killedAt: killedAt ?? kill.at, isReady, issued, answers };
}
