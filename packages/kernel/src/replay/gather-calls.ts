import {
  type ContentItem,
  type Entry,
  fromBinary,
  KernelError,
  RecordContentSchema,
  RecordSchema,
  type SessionOpened,
} from "@narthex/contracts";
import { RecordedCall } from "./recorded-call.ts";
import type { ReplayRow } from "./replay-source.ts";

/** The events of a session's chain that matter for a replay. */
export type SessionEvent =
  | { readonly kind: "opened"; readonly opened: SessionOpened }
  /** A complete call with its outcome. */
  | { readonly kind: "call"; readonly call: RecordedCall }
  | { readonly kind: "repeated" }
  /** A call that has no outcome at the end of the chain. */
  | { readonly kind: "open"; readonly call: RecordedCall };

/** No kernel has more calls than this running at once. If a chain claims more, the oldest are dropped. */
const MAX_OPEN = 10_000;

/** Assembles the calls of a chain from their records, in the order in which they ended. */
export async function* gatherCalls(rows: AsyncIterable<ReplayRow>): AsyncGenerator<SessionEvent> {
  const open = new Map<string, RecordedCall>();
  for await (const row of rows) {
    const { requestId, entries } = decode(row, RecordSchema, row.record);
    const { items } = decode(row, RecordContentSchema, row.content);
    let call: RecordedCall | undefined = open.get(requestId);
    call?.addItems(items);
    let isSettling = false;
    for (const { kind } of entries) {
      if (kind.case === "sessionOpened") yield { kind: "opened", opened: kind.value };
      if (kind.case === "callRepeated") {
        yield { kind: "repeated" };
        call = open.get(requestId);
      }
      if (kind.case === "outcomeSettled") {
        isSettling = true;
        call = open.get(kind.value.requestId);
        if (requestId !== kind.value.requestId) call?.addItems(items);
      }
      // A refusal under the id of a running call has a record of its own, and leaves that call open.
      if (kind.case === "toolInvoked") call = begin(requestId, row.index, kind.value, items);
      if (call === undefined) continue;
      if (isSettling) call.isSettled = true;
      note(call, kind, row.index);
      if (call.outcome === undefined) continue;
      yield { kind: "call", call };
      if (open.get(call.requestId) === call) open.delete(call.requestId);
      call = undefined;
    }
    const isRepeat = entries.some(({ kind }) => kind.case === "callRepeated");
    if (call !== undefined && !isRepeat && open.get(requestId) !== call) keepOpen(open, requestId, call);
  }
  for (const call of open.values()) yield { kind: "open", call };
}

function decode<Schema extends typeof RecordSchema | typeof RecordContentSchema>(
  { index }: ReplayRow,
  schema: Schema,
  bytes: Uint8Array,
): ReturnType<typeof fromBinary<Schema>> {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw new KernelError("CONTENT_DAMAGED", `record ${index} cannot be read; run \`narthex ledger verify\``, {
      cause,
    });
  }
}

function begin(
  requestId: string,
  index: number,
  invoked: RecordedCall["invoked"],
  items: readonly ContentItem[],
): RecordedCall {
  const call = new RecordedCall(requestId, index, invoked);
  call.addItems(items);
  return call;
}

function keepOpen(open: Map<string, RecordedCall>, requestId: string, call: RecordedCall): void {
  open.set(requestId, call);
  const [oldest] = open.keys();
  if (open.size > MAX_OPEN && oldest !== undefined) open.delete(oldest);
}

function note(call: RecordedCall, kind: Entry["kind"], index: number): void {
  switch (kind.case) {
    case "capabilityCheck":
      call.refusedCode = kind.value.granted ? "" : kind.value.rationaleCode;
      return;
    case "policyDecision":
      call.decisions.push({ index, decision: kind.value });
      return;
    case "toolStarted":
      call.started = kind.value;
      return;
    case "toolCompleted":
      return end(call, index, { kind: "completed", value: kind.value });
    case "toolFailed":
      return end(call, index, { kind: "failed", value: kind.value });
    case "toolTimedOut":
      return end(call, index, { kind: "timed_out", value: kind.value });
    case "toolDenied":
      return end(call, index, { kind: "denied", value: kind.value });
    default:
  }
}

function end(call: RecordedCall, index: number, outcome: NonNullable<RecordedCall["outcome"]>): void {
  call.outcome = outcome;
  call.outcomeIndex = index;
}
