import type { VerifyReport } from "@narthex/contracts";
import { digestRecordedSession, type ReplayPorts, type ReplaySource, replaySession } from "@narthex/kernel";
import type { ReplaySelection, ReplayEvent } from "@narthex/server";
import type { VerifyOptions } from "../connection/kernel-connection.ts";
import { type EventChannel, streamEvents } from "./event-channel.ts";
import { toCallEvent, toDigestEvent, toReportEvent } from "./replay-messages.ts";

/** A ledger that can be replayed, from any source. */
export interface ReplayableLedger {
  readonly source: ReplaySource;
  readonly ports: ReplayPorts;
  /** Ids of the recorded sessions. */
  listSessions(): Promise<readonly string[]>;
  verify(options: VerifyOptions): Promise<VerifyReport>;
}

/** Verifies a ledger and replays sessions of it. A broken ledger is not replayed. */
export function replayLedger(
  ledger: ReplayableLedger,
  selection: ReplaySelection,
  signal: AbortSignal,
): AsyncGenerator<ReplayEvent> {
  return streamEvents((channel) => work(ledger, selection, signal, channel));
}

async function work(
  ledger: ReplayableLedger,
  asked: ReplaySelection,
  signal: AbortSignal,
  channel: EventChannel<ReplayEvent>,
): Promise<void> {
  const isVerified = !asked.skipVerify && !asked.digestOnly;
  if (isVerified && !(await verifyFirst(ledger, signal, channel))) return;
  const sessionIds = asked.sessionIds.length > 0 ? asked.sessionIds : await ledger.listSessions();
  for (const sessionId of sessionIds) {
    signal.throwIfAborted();
    if (asked.digestOnly) {
      await channel.push(toDigestEvent(sessionId, await digestRecordedSession(sessionId, ledger.source)));
      continue;
    }
    const report = await replaySession(sessionId, ledger.source, ledger.ports, {
      signal,
      onCall: (call) =>
        asked.listCalls || call.finding.kind === "diverged" ? channel.push(toCallEvent(sessionId, call)) : undefined,
    });
    await channel.push(toReportEvent(report, isVerified));
  }
}

async function verifyFirst(
  ledger: ReplayableLedger,
  signal: AbortSignal,
  channel: EventChannel<ReplayEvent>,
): Promise<boolean> {
  const report = await ledger.verify({
    signal,
    verifierKey: undefined,
    checkpoints: [],
    onProgress: (done, total) => {
      const value = { recordsDone: BigInt(done), recordsTotal: BigInt(total) };
      channel.offer({ event: { case: "verifying", value } });
    },
  });
  await channel.push({ event: { case: "verified", value: report } });
  return report.intact && report.complete;
}
