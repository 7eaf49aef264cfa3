import { create, fromHex, type ReplayDivergence, ReplayDivergenceSchema, ReplayReportSchema } from "@narthex/contracts";
import type { Divergence, ReplayedCall, ReplayReport } from "@narthex/kernel";
import type { ReplayEvent } from "@narthex/server";

/** Converts the report of a session's replay to the event that the services send. */
export function toReportEvent(report: ReplayReport, verified: boolean): ReplayEvent {
  const value = create(ReplayReportSchema, {
    sessionId: report.sessionId,
    clean: report.clean,
    calls: BigInt(report.calls),
    ran: BigInt(report.ran),
    served: BigInt(report.served),
    refused: BigInt(report.refused),
    repeated: BigInt(report.repeated),
    open: BigInt(report.open),
    decisions: BigInt(report.decisions),
    divergenceCount: BigInt(report.divergenceCount),
    divergences: report.divergences.map(toDivergence),
    servedBy: [...report.servedBy].map(([reason, count]) => ({ reason, count: BigInt(count) })),
    contentDigest: report.contentDigest ?? new Uint8Array(0),
    verified,
  });
  return { event: { case: "report", value } };
}

/** For a session that was only read for its digest. */
export function toDigestEvent(sessionId: string, contentDigest: Uint8Array | undefined): ReplayEvent {
  const value = create(ReplayReportSchema, { sessionId, contentDigest: contentDigest ?? new Uint8Array(0) });
  return { event: { case: "report", value } };
}

export function toCallEvent(sessionId: string, { recordIndex, requestId, tool, finding }: ReplayedCall): ReplayEvent {
  const value = {
    sessionId,
    recordIndex: BigInt(recordIndex),
    requestId,
    tool,
    finding: finding.kind,
    ...(finding.kind === "served" && { reason: finding.reason }),
    ...(finding.kind === "diverged" && { divergence: toDivergence(finding.divergence) }),
  };
  return { event: { case: "call", value } };
}

function toDivergence({ recordIndex, expectedHash, foundHash, ...rest }: Divergence): ReplayDivergence {
  return create(ReplayDivergenceSchema, {
    ...rest,
    recordIndex: BigInt(recordIndex),
    expectedHash: fromHex(expectedHash) ?? new Uint8Array(0),
    foundHash: fromHex(foundHash) ?? new Uint8Array(0),
  });
}
