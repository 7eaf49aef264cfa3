import {
  blake3,
  canonicalJsonBytes,
  compileEncoder,
  ContentRole,
  equalBytes,
  fromBinary,
  type JsonValue,
  KernelError,
  parseJson,
  toHex,
  type ToolError,
  ToolErrorSchema,
} from "@narthex/contracts";
import type { Stage } from "../ports.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import { narrowTool } from "../tool/narrow-tool.ts";
import type { ToolSession } from "../tool/tool.ts";
import type { FileChange } from "../workspace-files.ts";
import { createReplayPrograms } from "./replay-programs.ts";
import { readItem } from "./recorded-content.ts";
import type { RecordedCall } from "./recorded-call.ts";
import { findRecordedFiles, type RecordedFiles } from "./recorded-files.ts";
import { ReplayContext } from "./replay-context.ts";
import type { ReplayPorts } from "./replay-ports.ts";
import type { CallFinding, Divergence, DivergenceCause, ServedReason } from "./replay-report.ts";
import type { ReplaySource } from "./replay-source.ts";
import { type RerunResult, rerunTool } from "./rerun-tool.ts";
import { isSeeded, findServedReason } from "./find-served-reason.ts";

/** The session whose calls are replayed. */
export interface ReplaySession {
  readonly seed: Uint8Array;
  readonly session: ToolSession;
}

const NO_BYTES = new Uint8Array(0);

/** Runs a call again, or reports why it is served from its record. Its decisions are replayed separately. */
export async function replayCall(
  call: RecordedCall,
  session: ReplaySession,
  ports: ReplayPorts,
  source: ReplaySource,
): Promise<CallFinding> {
  const { invoked, outcome, started } = call;
  if (started === undefined || outcome === undefined || outcome.kind === "denied") return { kind: "refused" };
  const registered = ports.findTool(invoked.toolName, invoked.toolVersion);
  const found = registered?.definitionHash ?? NO_BYTES;
  if (registered === undefined || !equalBytes(found, invoked.definitionHash)) {
    // A call that is served from its record needs no tool.
    if (!isSeeded(invoked.determinism)) return served("determinism");
    const what = registered === undefined ? "is not here" : "has another definition here";
    return diverged(call, "bind", "tool_changed", invoked.definitionHash, found, `\`${call.tool}\` ${what}`);
  }
  // The record differs from what the call received, read or returned.
  if (outcome.value.redacted) return served("redacted");
  const bytes = await readItem(call.open(ContentRole.INPUT, invoked.inputCommitment), source);
  if (bytes === "left_out") return served("left_out");
  if (bytes === "erased") return erased(call, "check", "the input");
  const input = parseJson(bytes);
  const narrowed = narrowTool(registered.tool, input);
  const reason = findServedReason(call, registered.tool, narrowed, ports);
  if (reason !== undefined) return served(reason);
  const files = await findRecordedFiles(call, source);
  if (files === "left_out") return served("left_out");
  if (files === undefined) return erased(call, "invoke", "what it read or replaced");
  return await runAndCompare({ call, registered, input, bytes, files, session, ports, source });
}

interface Rerun {
  readonly call: RecordedCall;
  readonly registered: RegisteredTool;
  readonly input: JsonValue;
  /** The input as recorded. */
  readonly bytes: Uint8Array;
  readonly files: RecordedFiles;
  readonly session: ReplaySession;
  readonly ports: ReplayPorts;
  readonly source: ReplaySource;
}

async function runAndCompare(rerun: Rerun): Promise<CallFinding> {
  const { call, registered, input, bytes, files, session, ports, source } = rerun;
  const { tool } = registered;
  const used = call.outcome?.value.wasm;
  const timeoutMs = Number(call.started?.timeoutMs ?? 0n) || registered.tool.bounds.timeoutMs;
  const { programs } = ports;
  const context = new ReplayContext({
    requestId: call.requestId,
    session: session.session,
    seed: session.seed,
    callNumber: Number(call.started?.callNumber ?? 0n),
    timeoutMs,
    source,
    openFiles: () => ports.openFiles(files.trace, (hash) => files.contentOf(hash)),
    openPrograms: (signal) =>
      programs && createReplayPrograms(tool, programs, { sessionId: session.session.id, timeoutMs, signal }),
    module: tool.isolation === "wasm" && ports.wasm ? { runner: ports.wasm, tool, input: bytes, used } : undefined,
  });
  try {
    const again = await rerunTool(registered, input, context, timeoutMs);
    if (context.served !== undefined) return served(context.served);
    const finding = await compare(rerun, again, context.changes);
    return finding.kind === "same" ? compareFuel(call, context.fuelUsed) : finding;
  } finally {
    context.end();
  }
}

async function compare(
  { call, files, source }: Rerun,
  again: RerunResult,
  changes: FileChange[],
): Promise<CallFinding> {
  const { outcome } = call;
  if (outcome?.kind === "failed") return await compareErrors(call, again, source);
  const result = call.open(ContentRole.RESULT, outcome?.value.resultCommitment ?? NO_BYTES);
  if (result === undefined) return erased(call, "keep", "the result");
  if (again.kind === "failed") {
    // The content existed when the call was recorded.
    const cause = again.code === "CONTENT_NOT_FOUND" ? "content_erased" : "not_deterministic";
    const message = `it succeeded and now fails with ${again.code}: ${again.message}`;
    return diverged(call, "invoke", cause, result.digest, NO_BYTES, message);
  }
  if (!equalBytes(again.digest, result.digest)) {
    const message = "it was run again with the same input, seed and files, and gives another result";
    return diverged(call, "keep", "not_deterministic", result.digest, again.digest, message);
  }
  if (changes.length + files.trace.changed.length === 0) return { kind: "same" };
  const [before, after] = [hashChanges(files.trace.changed), hashChanges(changes)];
  if (equalBytes(before, after)) return { kind: "same" };
  const message = "it gives the same result, and changes files in another way";
  return diverged(call, "invoke", "not_deterministic", before, after, message);
}

/**
 * INVARIANT: fuel is part of a module's behavior. A different amount means a different run, even if the result is the
 * same.
 */
function compareFuel(call: RecordedCall, fuelUsed: number | undefined): CallFinding {
  const recorded = call.outcome?.value.wasm?.fuelUsed;
  if (fuelUsed === undefined || recorded === undefined || BigInt(fuelUsed) === recorded) return { kind: "same" };
  const message = `it used ${recorded} fuel and now uses ${fuelUsed}`;
  return diverged(call, "invoke", "not_deterministic", NO_BYTES, NO_BYTES, message);
}

const encodeError = compileEncoder<ToolError>(ToolErrorSchema);

async function compareErrors(call: RecordedCall, again: RerunResult, source: ReplaySource): Promise<CallFinding> {
  const item = call.open(ContentRole.ERROR, call.outcome?.value.errorCommitment ?? NO_BYTES);
  const bytes = await readItem(item, source);
  if (bytes === "left_out") return served("left_out");
  if (item === undefined || bytes === "erased") return erased(call, "invoke", "the error");
  if (again.kind === "completed") {
    const message = `it failed with ${call.outcome?.value.code} and now succeeds`;
    return diverged(call, "invoke", "not_deterministic", item.digest, again.digest, message);
  }
  const { code: errorCode, message, violations } = again;
  const now = { ...readError(bytes), errorCode, message, violations };
  const digest = blake3(encodeError({ ...now, retryAfterMs: Number(now.retryAfterMs) }));
  if (equalBytes(digest, item.digest)) return { kind: "same" };
  const told = `it fails in another way: ${errorCode}: ${message}`;
  return diverged(call, "invoke", "not_deterministic", item.digest, digest, told);
}

function readError(bytes: Uint8Array): ToolError {
  try {
    return fromBinary(ToolErrorSchema, bytes);
  } catch (cause) {
    throw new KernelError("CONTENT_DAMAGED", "a recorded error cannot be read", { cause });
  }
}

/** Hashes file changes without permissions, which depend on the machine and are not compared. */
function hashChanges(changes: readonly FileChange[]): Uint8Array {
  const told = (state: FileChange["before"]): JsonValue =>
    state.kind === "file" ? { kind: "file", hash: state.hash } : { kind: state.kind };
  return blake3(
    canonicalJsonBytes(changes.map(({ path, before, after }) => ({ path, before: told(before), after: told(after) }))),
  );
}

function served(reason: ServedReason): CallFinding {
  return { kind: "served", reason };
}

function erased(call: RecordedCall, stage: Stage, what: string): CallFinding {
  const message = `${what} was erased: the call cannot be compared`;
  return diverged(call, stage, "content_erased", NO_BYTES, NO_BYTES, message);
}

function diverged(
  call: RecordedCall,
  stage: Stage,
  cause: DivergenceCause,
  expected: Uint8Array,
  found: Uint8Array,
  message: string,
): CallFinding {
  const { requestId, tool } = call;
  const divergence: Divergence = {
    recordIndex: call.outcomeIndex,
    requestId,
    tool,
    stage,
    expectedHash: toHex(expected),
    foundHash: toHex(found),
    cause,
    message,
  };
  return { kind: "diverged", divergence };
}
