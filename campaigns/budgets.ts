import type { Campaign } from "./campaign.ts";
import { assertSound, callInParallel, SPENDING_RULES, SPENDING_TOOLS } from "./budgets/call-in-parallel.ts";
import { interleave } from "./budgets/interleave.ts";
import { Chance } from "./chance/chance.ts";
import { Findings } from "./chance/findings.ts";
import { inBatches } from "./chance/in-batches.ts";
import { withKernel } from "./kernel/with-kernel.ts";

/** So many interleavings of the account for each hundred of parallel calls on a kernel. */
const PER_KERNEL_ROUND = 2000;

/** The budget account against a model, and the same promise on a kernel. */
export const budgets: Campaign = {
  name: "budgets",
  title:
    "Random interleavings of reserve, settle and restore against a model, and 100 parallel calls at a time on a kernel: nothing is overspent, and what is left is right.",
  unit: "interleavings",
  sample: 600,
  full: 200_000,
  async run(round) {
    const findings = new Findings();
    await inBatches(round, (number) => {
      findings.check(
        () => `interleaving ${number}`,
        () => findings.count("steps on accounts", interleave(new Chance(round.seed, number))),
      );
    });
    await withKernel({ tools: SPENDING_TOOLS, policies: [SPENDING_RULES] }, async ({ kernel, workspace }) => {
      for (let number = 0; number * PER_KERNEL_ROUND < round.count; number++) {
        round.progress(round.count);
        try {
          findings.count(await callInParallel(new Chance(round.seed, -1 - number), kernel, workspace));
        } catch (fault) {
          findings.fail(`parallel calls ${number}: ${fault instanceof Error ? fault.message : String(fault)}`);
        }
      }
      findings.fact("records in the kernel's ledger, all verified", await assertSound(kernel));
    });
    return findings.outcome(round.count);
  },
};
