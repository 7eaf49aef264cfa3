import { blake3, createBlake3, type JsonValue, type Violation } from "@narthex/contracts";
import type { RegisteredTool } from "../registry/registry.ts";
import { explainInvalidOutput } from "../result/invalid-output.ts";
import { isViolations, normaliseOutput } from "../result/normalise-output.ts";
import { createStreamRedactor } from "../result/redact.ts";
import { explainToolFault } from "../result/tool-fault.ts";
import type { ToolOutput } from "../tool/tool.ts";
import type { ReplayContext } from "./replay-context.ts";

/** Outcome of running a call again. */
export type RerunResult =
  | { readonly kind: "completed"; readonly digest: Uint8Array }
  | {
      readonly kind: "failed";
      readonly code: string;
      readonly message: string;
      readonly violations: readonly Violation[];
    };

/** Runs a tool with the data of its record, and hashes its output like the kernel. */
export async function rerunTool(
  registered: RegisteredTool,
  input: JsonValue,
  context: ReplayContext,
  timeoutMs: number,
): Promise<RerunResult> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const answered = registered.tool.run(input, context);
    if (!isLasting(answered)) return finish(registered, answered);
    const late = new Promise<RerunResult>((resolve) => {
      timer = setTimeout(() => resolve(timedOut(timeoutMs)), timeoutMs);
    });
    const running = follow(registered, answered);
    running.catch(() => undefined);
    return await Promise.race([running, late]);
  } catch (fault) {
    return { kind: "failed", ...explainToolFault(registered, fault) };
  } finally {
    clearTimeout(timer);
  }
}

type Lasting = PromiseLike<ToolOutput> | AsyncIterable<Uint8Array>;

async function follow(registered: RegisteredTool, answered: Lasting): Promise<RerunResult> {
  const output = "then" in answered ? await answered : answered;
  return isStream(output) ? await hashStream(registered, output) : finish(registered, output);
}

function finish(registered: RegisteredTool, output: ToolOutput): RerunResult {
  const normalised = normaliseOutput(registered, output);
  if (!isViolations(normalised)) return { kind: "completed", digest: blake3(normalised.bytes) };
  return { kind: "failed", code: "INVALID_OUTPUT", ...explainInvalidOutput(registered.id, normalised) };
}

async function hashStream({ tool }: RegisteredTool, chunks: AsyncIterable<Uint8Array>): Promise<RerunResult> {
  const redactor = createStreamRedactor(tool.redactors ?? []);
  const hasher = createBlake3();
  for await (const chunk of chunks) hasher.update(redactor.push(chunk));
  hasher.update(redactor.end());
  return { kind: "completed", digest: hasher.digest() };
}

function timedOut(timeoutMs: number): RerunResult {
  const message = `the tool did not finish within ${timeoutMs} ms`;
  return { kind: "failed", code: "TIMEOUT", message, violations: [] };
}

function isLasting(output: ToolOutput | PromiseLike<ToolOutput>): output is Lasting {
  if (typeof output !== "object" || output === null) return false;
  return ("then" in output && typeof output.then === "function") || Symbol.asyncIterator in output;
}

function isStream(output: ToolOutput): output is AsyncIterable<Uint8Array> {
  return typeof output === "object" && output !== null && Symbol.asyncIterator in output;
}
