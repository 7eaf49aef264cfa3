import type { Chain } from "./chain.ts";
import type { OpenedRecord } from "./open-record.ts";
import type { ProblemList } from "./problem-list.ts";
import { sameSlices } from "./wire/slice.ts";

/**
 * A record's place in its chain: sequence, link to the one before, logical time. Answers false for a record that is
 * there a second time, which nothing later may build on.
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

/** A bad record takes one place in its chain; what follows cannot be compared with it. */
export function passBadRecord(chain: Chain, problems: ProblemList): void {
  reportBreak(chain, problems);
  chain.nextSequence++;
  chain.headHash = undefined;
  chain.damaged = true;
}

/** Names the break that no later record has told more about. */
export function reportBreak(chain: Chain, problems: ProblemList): void {
  if (chain.break === undefined) return;
  const { earlierIndex, laterIndex } = chain.break;
  const place = { index: earlierIndex, chain: chain.name };
  problems.add("chain_broken", place, `record ${laterIndex} was written after another record than this one`);
  chain.break = undefined;
}

/**
 * When two neighbours do not fit, either the earlier was changed (and hashed again) or the later was put in. The next
 * link tells: a record that its follower fits was not changed, and one that fits on neither side does not belong.
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
