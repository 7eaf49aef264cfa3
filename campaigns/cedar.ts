import { compileCedar } from "../packages/kernel/src/policy/cedar/compile-cedar.ts";
import type { Campaign } from "./campaign.ts";
import { ACTION_GROUPS } from "./cedar/cedar-world.ts";
import { compareEngines } from "./cedar/compare-engines.ts";

/** The kernel's compiled policy against Cedar itself. */
export const cedar: Campaign = {
  name: "cedar",
  title:
    "Random policy sets and requests, well typed and not: the compiled evaluator gives the answer of cedar-wasm, with the same determining rules and the same rules in error.",
  unit: "requests",
  sample: 4000,
  full: 1_000_000,
  run: (round) =>
    compareEngines(round, (policies) => {
      const { engine, unsupported } = compileCedar(policies, ACTION_GROUPS);
      if (engine === undefined) throw new Error(`${unsupported.rule}: ${unsupported.message}`);
      return engine;
    }),
};
