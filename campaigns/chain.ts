import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { verifyLedger } from "@narthex/verify";
import type { Campaign } from "./campaign.ts";
import { makeRealLedger, type RealLedger, sourceOf } from "./chain/real-ledger.ts";
import { TAMPERINGS, type Tampering } from "./chain/tamper.ts";
import { Chance } from "./chance/chance.ts";
import { Findings } from "./chance/findings.ts";

/** Calls that the ledger is made of; a verification reads all of it. */
const CALLS = 40;
const NAMES = Object.keys(TAMPERINGS);

/** Everything somebody could do to a stored ledger without the means to rewrite all of it. */
export const chain: Campaign = {
  name: "chain",
  title:
    "Mutations of a ledger that a kernel wrote: verify finds each, and names the first bad record. What only a signed checkpoint could show is counted apart.",
  unit: "mutations",
  sample: 190,
  full: 20_000,
  async run(round) {
    const findings = new Findings();
    const ledger = await makeRealLedger(new Chance(round.seed, -1), CALLS);
    const foreign = await makeRealLedger(new Chance(round.seed, -1), CALLS);
    for (const made of [ledger, foreign]) {
      const { problems } = await verifyLedger(sourceOf(made));
      assert.deepEqual(problems, [], "the ledger is not sound before anybody touches it");
    }
    const chains = new Set(ledger.rows.map((row) => row.chain)).size;
    findings.fact(
      "records, chains and content files of the ledger",
      `${ledger.rows.length}, ${chains}, ${ledger.files.size}`,
    );
    findings.fact("not noticed yet, since nothing is signed", "a tail cut off; the last record of a chain rewritten");
    findings.fact(
      "not noticed, since no commitment needs them",
      "GRANTED, POLICY_SET and DEFINITION items dropped; items that an earlier record of the call has as well",
    );
    for (let number = 0; number < round.count; number++) {
      round.progress(number);
      if (number % 16 === 0) await turn();
      await tamper(new Chance(round.seed, number), ledger, foreign, number, findings);
    }
    round.progress(round.count);
    return findings.outcome(round.count);
  },
};

async function tamper(
  chance: Chance,
  ledger: RealLedger,
  foreign: RealLedger,
  number: number,
  findings: Findings,
): Promise<void> {
  const name = NAMES[number % NAMES.length] ?? "";
  const tampered = (TAMPERINGS[name] as Tampering)(chance, ledger, foreign);
  if (tampered === undefined) {
    findings.count(`${name}: no change that a commitment covers`);
    return;
  }
  const { expected, maybeUnnoticed = false } = tampered;
  try {
    const { intact, complete, problems } = await verifyLedger(sourceOf(tampered.ledger));
    const [first] = problems;
    if (first === undefined) {
      assert.ok(maybeUnnoticed, `not found, though record ${expected.join(" or ")} is bad`);
      findings.count(`${name}: not noticed`);
      return;
    }
    assert.equal(intact && complete, false, "problems, and yet intact and complete");
    assert.ok(
      expected.includes(first.recordIndex),
      `record ${first.recordIndex} is named (${first.code}: ${first.message}), not ${expected.join(" or ") || "none"}`,
    );
    findings.count(`${name}: found, first bad record named`);
  } catch (fault) {
    findings.fail(`mutation ${number}, ${name}: ${fault instanceof Error ? fault.message : String(fault)}`);
  }
}
