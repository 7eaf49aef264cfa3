import { create, type VerifyReport, VerifyReportSchema } from "@narthex/contracts";
import { type VerifyReport as Findings, type LedgerSource, verifyLedger } from "@narthex/verify";
import type { VerifyOptions } from "./kernel-connection.ts";

/** Has the independent reader read the ledger, and gives its findings as the services do. */
export async function verifySource(source: LedgerSource, { signal, onProgress }: VerifyOptions): Promise<VerifyReport> {
  const findings = await verifyLedger(source, {
    signal,
    onProgress: ({ recordsDone, recordsTotal }) => onProgress(recordsDone, recordsTotal),
  });
  return toVerifyReport(findings);
}

function toVerifyReport(findings: Findings): VerifyReport {
  return create(VerifyReportSchema, {
    intact: findings.intact,
    complete: findings.complete,
    records: BigInt(findings.records),
    chains: BigInt(findings.chains),
    contentItems: BigInt(findings.contentItems),
    erasedItems: BigInt(findings.erasedItems),
    unprovenTail: BigInt(findings.unprovenTail),
    headHash: findings.headHash,
    problems: findings.problems.map(({ recordIndex, ...problem }) => ({
      ...problem,
      recordIndex: BigInt(recordIndex),
    })),
  });
}
