import { once } from "node:events";
import type { Writable } from "node:stream";
import { fromBinary, RecordContentSchema, type RecordMessage, RecordSchema } from "@narthex/contracts";
import type { ApprovalList } from "@narthex/kernel";
import type { NodeResponse } from "../service/http-listener.ts";
import { recordSubject } from "../call-subject.ts";
import { createCallWatcher } from "../watched-calls.ts";
import { createCallerNames } from "./caller-names.ts";
import type { ConsoleKernel } from "./console-kernel.ts";
import type { ConsoleLimits } from "./console-limits.ts";
import { toApprovalView, toStandingView } from "./approval-view.ts";
import { toResolutionViews, toCallView } from "./call-view.ts";
import { toPolicyView } from "./policy-view.ts";
import { toUnsafeWorkspaceViews } from "./unsafe-workspace-view.ts";

export interface LiveStreamOptions {
  readonly kernel: ConsoleKernel;
  readonly limits: ConsoleLimits;
  /** Sent once, at the start. */
  readonly greeting: object;
  readonly signal: AbortSignal;
  nowMs(): number;
}

/** Sends one line of JSON. Resolves when the client can take more. */
type Send = (event: object) => Promise<void>;

/**
 * Streams changes as lines of JSON until the signal aborts: the pending approvals, and calls as they end.
 *
 * INVARIANT: each source waits until its line was consumed, so a client that does not read holds two lines, not a
 * queue. It reads missed records from the ledger later, and gets the newest list of approvals.
 */
export async function runLiveStream(response: NodeResponse, options: LiveStreamOptions): Promise<void> {
  const { limits, greeting, nowMs } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  response.once("close", () => ending.abort());
  const send: Send = (event) => sendLine(response, event, signal);
  response.setHeader("content-type", "application/x-ndjson");
  const beat = setInterval(() => {
    // Sends no heartbeat to a client that does not read.
    if (!isWaiting(response)) void send({ kind: "beat", nowMs: nowMs() });
  }, limits.heartbeatMs);
  try {
    const { kernel } = options;
    const state = {
      policy: toPolicyView(kernel.policyFacts()),
      unsafe: toUnsafeWorkspaceViews(kernel.unsafeWorkspaces()),
    };
    await send({ kind: "hello", nowMs: nowMs(), ...greeting, ...state });
    const sources = [sendApprovals(options, send, signal), sendCalls(options, send, signal)];
    await Promise.race(sources).finally(() => ending.abort());
    await Promise.all(sources);
  } finally {
    clearInterval(beat);
    ending.abort();
    response.end();
  }
}

async function sendApprovals({ kernel, limits }: LiveStreamOptions, send: Send, signal: AbortSignal): Promise<void> {
  let told: ReadonlySet<string> = new Set();
  let standing = "";
  for await (const list of kernel.watchApprovals(signal)) {
    if (signal.aborted) return;
    for (const question of list.open) {
      if (!told.has(question.approvalId)) await send({ kind: "asked", approval: toApprovalView(question, limits) });
    }
    const ids = list.open.map(({ approvalId }) => approvalId);
    const left = list.open.flatMap(({ approvalId, isAwaited }) => (isAwaited ? [] : [approvalId]));
    await send({ kind: "open", ids, left });
    told = new Set(ids);
    const now = toStandingEvent(list);
    if (now.text !== standing) await send(now.event);
    standing = now.text;
  }
}

function toStandingEvent({ standing }: ApprovalList): { readonly event: object; readonly text: string } {
  const event = { kind: "standing", standing: standing.map(toStandingView) };
  return { event, text: JSON.stringify(event) };
}

async function sendCalls({ kernel, limits }: LiveStreamOptions, send: Send, signal: AbortSignal): Promise<void> {
  const observe = createCallWatcher();
  const now = kernel.recordCount();
  const fromIndex = Math.max(0, now - limits.lookBackRecords);
  const callerOf = createCallerNames(kernel);
  for await (const { index, record: bytes, content: about } of kernel.tailRecords({ fromIndex, signal })) {
    const record = fromBinary(RecordSchema, bytes);
    const content = about.length === 0 ? undefined : fromBinary(RecordContentSchema, about);
    const call = observe({ index, record, subject: recordSubject(record, content) });
    if (call !== undefined) await send({ kind: "call", call: toCallView(call, await callerOf(call.sessionId)) });
    if (index < now) continue;
    for (const answered of toResolutionViews(record)) await send({ kind: "answered", answered });
    if (changesPolicy(record)) await send({ kind: "policy", policy: toPolicyView(kernel.policyFacts()) });
    if (changesUnsafe(record))
      await send({ kind: "unsafe", unsafe: toUnsafeWorkspaceViews(kernel.unsafeWorkspaces()) });
  }
}

function changesPolicy({ entries }: RecordMessage): boolean {
  return entries.some(({ kind }) => kind.case === "policyLoaded" || kind.case === "policyRefused");
}

function changesUnsafe({ entries }: RecordMessage): boolean {
  return entries.some(({ kind }) => kind.case === "protectedPathsRestored");
}

async function sendLine(response: NodeResponse, event: object, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const stream: Writable = response;
  stream.write(`${JSON.stringify(event)}\n`);
  while (isWaiting(response) && !signal.aborted) {
    await once(response, "drain", { signal }).catch(() => undefined);
  }
}

function isWaiting(response: NodeResponse): boolean {
  return "stream" in response ? response.stream.writableNeedDrain : response.writableNeedDrain;
}
