import { create, KernelError, type VerifyReport, VerifyReportSchema } from "@narthex/contracts";
import {
  type Checkpoint,
  type VerifyOptions as AskedOfReader,
  type VerifyReport as Findings,
  type LedgerSource,
  type VerifierKey,
  type TreeReport,
  parseCheckpoint,
  parseVerifierKey,
  type VerifiedBefore,
  VerifiedFault,
  verifyLedger,
} from "@narthex/verify";
import type { VerifyOptions } from "./kernel-connection.ts";

/** Verifies a ledger with the independent reader, and returns the findings in the form of the services. */
export function verifySource(source: LedgerSource, options: VerifyOptions): Promise<VerifyReport> {
  return verifyWith((asked) => verifyLedger(source, asked), options);
}

/** Does the same for any source that the reader can read. */
export async function verifyWith(
  verify: (options: AskedOfReader) => Promise<Findings>,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const { signal, onProgress, before, remember = false, recordsOnly } = options;
  const trustedKey = options.verifierKey === undefined ? undefined : requireKey(options.verifierKey);
  const keptCheckpoints = options.checkpoints.map(requireCheckpoint);
  try {
    const findings = await verify({
      signal,
      trustedKey,
      keptCheckpoints,
      before,
      recordsOnly,
      ...(remember && { nowMs: Date.now() }),
      onProgress: ({ recordsDone, recordsTotal }) => onProgress(recordsDone, recordsTotal),
    });
    return toVerifyReport(findings);
  } catch (fault) {
    if (!(fault instanceof VerifiedFault)) throw fault;
    const what = `what an earlier verification left cannot be gone on from: ${fault.message}`;
    throw new KernelError("INVALID_REQUEST", `${what}; look at how that came, remove it, and verify everything`);
  }
}

function toVerifyReport(findings: Findings): VerifyReport {
  return create(VerifyReportSchema, {
    intact: findings.intact,
    complete: findings.complete,
    records: BigInt(findings.records),
    chains: BigInt(findings.chains),
    contentItems: BigInt(findings.contentItems),
    erasedItems: BigInt(findings.erasedItems),
    leftOutItems: BigInt(findings.leftOutItems),
    unprovenTail: BigInt(findings.unprovenTail),
    headHash: findings.headHash,
    proofs: BigInt(findings.proofs),
    log: toVerifiedTree(findings.log),
    areas: [...findings.areas],
    problemCount: BigInt(findings.problemCount),
    ...(findings.before && { verifiedBefore: toVerifiedBefore(findings.before) }),
    ...(findings.verified && { verified: findings.verified }),
    notRemembered: findings.notRemembered ?? "",
    recordsOnly: findings.recordsOnly === true,
    problems: findings.problems.map(({ recordIndex, ...problem }) => ({
      ...problem,
      recordIndex: BigInt(recordIndex),
    })),
  });
}

function toVerifiedBefore({ records, checkpointSize, checkpointRoot, verifiedAtMs }: VerifiedBefore) {
  return {
    records: BigInt(records),
    checkpointSize: BigInt(checkpointSize),
    checkpointRoot,
    verifiedAtMs: BigInt(verifiedAtMs),
  };
}

function toVerifiedTree(log: TreeReport) {
  return {
    origin: log.origin,
    verifierKey: log.verifierKey,
    keyTrusted: log.keyTrusted,
    keys: BigInt(log.keys),
    checkpoints: BigInt(log.checkpoints),
    provenSize: BigInt(log.provenSize),
    provenRoot: log.provenRoot,
    keptCheckpoints: BigInt(log.keptCheckpoints),
    tiles: BigInt(log.tiles),
    tilesMissing: BigInt(log.tilesMissing),
    keyLosses: (log.keyLosses ?? []).map(BigInt),
  };
}

function requireKey(text: string): VerifierKey {
  const key = parseVerifierKey(text);
  if (key !== undefined) return key;
  throw new KernelError(
    "INVALID_REQUEST",
    `\`${text.slice(0, 120)}\` is no verifier key: take the line of \`log/verifier-key\``,
  );
}

function requireCheckpoint(note: string): Checkpoint {
  const checkpoint = parseCheckpoint(note);
  if (checkpoint !== undefined) return checkpoint;
  throw new KernelError(
    "INVALID_REQUEST",
    "a kept checkpoint is none: give it as `narthex ledger checkpoint` printed it",
  );
}
