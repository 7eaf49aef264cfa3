import type { Chain } from "./chain.ts";
import type { OpenedRecord } from "./open-record.ts";
import type { ProblemList } from "./problem-list.ts";
import { sameSlices } from "./wire/slice.ts";

/**
 * Checks a record's place in its chain: sequence, link to the previous record, logical time. Returns false for a
 * repeated record, which no later record may build on.
 */
export function checkChain(chain: Chain, opened: OpenedRecord, problems: ProblemList): boolean {
  const { record, hash } = opened;
  if (record.sequence < chain.nextSequence) {
    problems.add("sequence_repeated", record, `the chain already has a record ${record.sequence}`);
    return false;
  }
  if (record.sequence > chain.nextSequence) {
    reportBreak(chain, problems);
    const missing = record.sequence - chain.nextSequence;
    problems.add(
      "sequence_gap",
      record,
      `${missing} of the chain's records before its record ${record.sequence} are missing`,
    );
    chain.damaged = true;
  } else {
    checkLink(chain, opened, problems);
  }
  if (record.logicalTimeMs < chain.logicalTimeMs) {
    problems.add("logical_time_back", record, "the chain's logical clock goes back");
  }
  chain.nextSequence = record.sequence + 1;
  chain.headHash = hash;
  chain.headIndex = record.index;
  chain.logicalTimeMs = Math.max(chain.logicalTimeMs, record.logicalTimeMs);
  return true;
}

/** A bad record takes one place in its chain; the record after it cannot be compared with it. */
export function passBadRecord(chain: Chain, problems: ProblemList): void {
  reportBreak(chain, problems);
  chain.nextSequence++;
  chain.headHash = undefined;
  chain.damaged = true;
}

/** Reports a break that no later record has explained. */
export function reportBreak(chain: Chain, problems: ProblemList): void {
  if (chain.break === undefined) return;
  const { earlierIndex, laterIndex } = chain.break;
  const place = { index: earlierIndex, chain: chain.name };
  problems.add("chain_broken", place, `record ${laterIndex} was written after another record than this one`);
  chain.break = undefined;
}

/**
 * If two adjacent records do not fit, either the earlier one was changed (and hashed again) or the later one was
 * inserted. The next link shows which: a record that the next one links to was not changed, and one that fits on
 * neither side does not belong.
 */
function checkLink(chain: Chain, { record }: OpenedRecord, problems: ProblemList): void {
  if (chain.headHash === undefined || record.sequence === 0) return;
  if (sameSlices(record.previousHash, chain.headHash)) return reportBreak(chain, problems);
  chain.damaged = true;
  if (chain.break === undefined) {
    chain.break = { earlierIndex: chain.headIndex, laterIndex: record.index };
    return;
  }
  const place = { index: chain.break.laterIndex, chain: chain.name };
  problems.add("chain_broken", place, "the record fits neither the one before it nor the one after it");
  chain.break = undefined;
}
