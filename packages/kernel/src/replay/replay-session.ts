import { KernelError, type SessionOpened } from "@narthex/contracts";
import { gatherCalls } from "./gather-calls.ts";
import { replayCall, type ReplaySession } from "./replay-call.ts";
import { replayDecisions } from "./replay-decisions.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { ReplayPorts } from "./replay-ports.ts";
import type { CallFinding, Divergence, ReplayReport, ServedReason } from "./replay-report.ts";
import type { ReplaySource } from "./replay-source.ts";
import { SessionDigest } from "./session-digest.ts";

export interface ReplayOptions {
  readonly signal?: AbortSignal;
  /** Called for each call, in the order of the record. */
  onCall?(call: ReplayedCall): void | Promise<void>;
}

/** Outcome of replaying one call. */
export interface ReplayedCall {
  readonly recordIndex: number;
  readonly requestId: string;
  /** `name@version`. */
  readonly tool: string;
  readonly finding: CallFinding;
}

const MAX_LISTED = 100;

/** Replays a recorded session call by call, in the order of its record. Throws SESSION_UNKNOWN. */
export async function replaySession(
  sessionId: string,
  source: ReplaySource,
  ports: ReplayPorts,
  { signal, onCall }: ReplayOptions = {},
): Promise<ReplayReport> {
  const tally = new Tally(sessionId);
  let session: ReplaySession | undefined;
  for await (const event of gatherCalls(source.records(sessionId))) {
    signal?.throwIfAborted();
    if (event.kind === "opened") session ??= sessionOf(event.opened);
    if (event.kind === "repeated") tally.repeated++;
    if (event.kind === "open") tally.open++;
    if (event.kind !== "call") continue;
    if (session === undefined) break;
    const { call } = event;
    const finding = await replayOne(call, session, ports, source, tally);
    tally.add(call, finding);
    await onCall?.({ recordIndex: call.outcomeIndex, requestId: call.requestId, tool: call.tool, finding });
  }
  if (session === undefined) throw unknownSession(sessionId);
  return tally.report();
}

/** Computes the content digest of a recorded session without running anything. */
export async function digestRecordedSession(sessionId: string, source: ReplaySource): Promise<Uint8Array | undefined> {
  const digest = new SessionDigest();
  let isKnown = false;
  for await (const event of gatherCalls(source.records(sessionId))) {
    isKnown = true;
    if (event.kind === "call") digest.add(event.call);
  }
  if (!isKnown) throw unknownSession(sessionId);
  return digest.finish();
}

/** Replays the decisions first: a decision that differs explains more than the result it led to. */
async function replayOne(
  call: RecordedCall,
  session: ReplaySession,
  ports: ReplayPorts,
  source: ReplaySource,
  tally: Tally,
): Promise<CallFinding> {
  const { made, divergence } = await replayDecisions(call, ports, source);
  tally.decisions += made;
  if (divergence !== undefined) return { kind: "diverged", divergence };
  return await replayCall(call, session, ports, source);
}

function sessionOf({ sessionId, tenant, workspace, workingDirectory, seed }: SessionOpened): ReplaySession {
  return { seed, session: Object.freeze({ id: sessionId, tenant, workspace, workingDirectory }) };
}

function unknownSession(sessionId: string): KernelError {
  return new KernelError("SESSION_UNKNOWN", `nothing is recorded of a session \`${sessionId.slice(0, 60)}\``);
}

class Tally {
  decisions = 0;
  repeated = 0;
  open = 0;
  readonly #sessionId: string;
  readonly #counts = { same: 0, served: 0, refused: 0, diverged: 0 };
  readonly #servedBy = new Map<ServedReason, number>();
  readonly #divergences: Divergence[] = [];
  readonly #digest = new SessionDigest();

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  add(call: RecordedCall, finding: CallFinding): void {
    this.#digest.add(call);
    this.#counts[finding.kind]++;
    if (finding.kind === "served") {
      this.#servedBy.set(finding.reason, (this.#servedBy.get(finding.reason) ?? 0) + 1);
    }
    if (finding.kind === "diverged" && this.#divergences.length < MAX_LISTED) {
      this.#divergences.push(finding.divergence);
    }
  }

  report(): ReplayReport {
    const { same, served, refused, diverged } = this.#counts;
    return {
      sessionId: this.#sessionId,
      clean: diverged === 0,
      calls: same + served + refused + diverged,
      ran: same,
      served,
      refused,
      repeated: this.repeated,
      open: this.open,
      decisions: this.decisions,
      divergenceCount: diverged,
      divergences: this.#divergences,
      servedBy: this.#servedBy,
      contentDigest: this.#digest.finish(),
    };
  }
}
