import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { KernelError } from "@narthex/contracts";

/** Status that bubblewrap reports about its child. */
export interface SandboxStatus {
  readonly pid: Promise<number>;
  readonly knownPid: number | undefined;
  readonly hasEnded: boolean;
  readonly ended: Promise<{ readonly exitCode: number }>;
  /** Sets the reason why the sandbox failed, overriding bubblewrap's message. */
  fail(fault: unknown): void;
}

const MAX_STATUS_BYTES = 4096;
const MAX_REASON = 300;
const MAX_WAIT_MS = 1000;

/**
 * Distinguishes a sandbox that failed from a program that exited with 1: only bubblewrap's own report of an exit code
 * counts. Without one the sandbox failed, and bubblewrap's output gives the reason.
 */
export function followStatus(child: ChildProcess, pipe: Readable, stderr: Readable): SandboxStatus {
  const pid = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<{ readonly exitCode: number }>();
  pid.promise.catch(() => undefined);
  ended.promise.catch(() => undefined);
  let knownPid: number | undefined;
  let exitCode: number | undefined;
  let hasEnded = false;
  let fault: unknown;
  let text = "";
  let printed = "";

  pipe.setEncoding("utf8");
  pipe.on("error", () => undefined);
  pipe.on("data", (chunk: string) => {
    text += chunk;
    const lines = text.split("\n");
    text = (lines.pop() ?? "").slice(0, MAX_STATUS_BYTES);
    for (const line of lines) {
      const found = readStatus(line);
      if (found["child-pid"] !== undefined) {
        knownPid = found["child-pid"];
        pid.resolve(knownPid);
      }
      exitCode = found["exit-code"] ?? exitCode;
    }
  });
  stderr.on("data", (chunk: Buffer) => {
    if (printed.length < MAX_REASON && exitCode === undefined) printed += chunk.toString("latin1", 0, MAX_REASON);
  });
  child.on("error", (error) => {
    fault ??= new KernelError("SANDBOX_ERROR", `bubblewrap could not be started: ${error.message}`);
  });
  function fail(): void {
    const reason = fault ?? explain(firstLine(printed));
    pid.reject(reason);
    ended.reject(reason);
  }

  child.on("close", () => {
    hasEnded = true;
    if (fault === undefined && exitCode !== undefined) ended.resolve({ exitCode });
    // Bubblewrap's last output may not have arrived yet.
    else if (fault !== undefined || stderr.readableEnded || stderr.destroyed) fail();
    else {
      stderr.once("close", fail);
      setTimeout(fail, MAX_WAIT_MS).unref();
    }
  });
  return {
    pid: pid.promise,
    ended: ended.promise,
    get knownPid() {
      return knownPid;
    },
    get hasEnded() {
      return hasEnded;
    },
    fail(cause) {
      fault ??= cause;
    },
  };
}

function readStatus(line: string): { "child-pid"?: number; "exit-code"?: number } {
  try {
    const found: unknown = JSON.parse(line);
    if (typeof found !== "object" || found === null) return {};
    const status = found as Record<string, unknown>;
    const number = (name: string): number | undefined =>
      Number.isInteger(status[name]) ? Number(status[name]) : undefined;
    const [child, exit] = [number("child-pid"), number("exit-code")];
    return { ...(child !== undefined && { "child-pid": child }), ...(exit !== undefined && { "exit-code": exit }) };
  } catch {
    return {};
  }
}

/** Converts bubblewrap's message to an error. Only a wrong working directory is the caller's mistake. */
function explain(line: string): KernelError {
  const place = /^bwrap: Can't chdir to (.+): (?:No such file or directory|Not a directory|Permission denied)$/.exec(
    line,
  );
  if (place === null) return new KernelError("SANDBOX_ERROR", `the sandbox failed: ${line}`);
  return new KernelError("FILE_NOT_FOUND", `the working directory \`${place[1]}\` is not there, or cannot be entered`);
}

function firstLine(printed: string): string {
  const line = printed.split("\n").find((candidate) => candidate.trim() !== "");
  return line === undefined ? "it was killed before it said how its program ended" : line.slice(0, MAX_REASON);
}
