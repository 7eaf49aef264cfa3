import { interleave } from "../../harness/interleave.ts";
import type { Measurement, Row } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";
import { openCompiled, openPreparsed } from "./engines.ts";
import { sampleRequests } from "./sample-requests.ts";
import { DEFAULT_TOOLS, type SampleSize, sampleRules } from "./sample-rules.ts";
import { requireAgreement, timeDecisions } from "./time-decisions.ts";

const FEW = { rules: 50, tools: DEFAULT_TOOLS };
/** Who has so many rules has connected tools by the hundred. */
const MANY = { rules: 1000, tools: 200 };
const CROWDED = { rules: 1000, tools: DEFAULT_TOOLS };
const ROUND_MS = 600;
const MAX_RATIO = 3;

/** What more rules cost: rules about other actions are not looked at. */
export const manyRules: Measurement = async ({ rounds, scale }) => {
  const p50Of = (size: SampleSize): (() => number) => {
    const requests = sampleRequests(size.tools);
    const decide = openCompiled(sampleRules(size));
    requireAgreement({ ours: decide, cedar: openPreparsed(sampleRules(size)) }, requests);
    return () => timeDecisions(decide, requests, ROUND_MS * scale).p50Us;
  };
  const times = await interleave(rounds, { few: p50Of(FEW), many: p50Of(MANY), crowded: p50Of(CROWDED) });
  const against = ({ rules, tools }: SampleSize, results: readonly number[]): Row => ({
    what: `policy evaluated, ${rules.toLocaleString("en-US")} conditional rules about ${tools} tools: p50`,
    ours: { value: Math.min(...results), unit: "µs" },
    beside: { value: Math.min(...times.few), unit: "µs", name: `with ${FEW.rules} about ${FEW.tools}` },
    ratio: ratioOf(results, times.few),
  });
  return {
    rows: [
      {
        ...against(CROWDED, times.crowded),
        bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
        picture: "policy of 1,000 rules, beside 50",
      },
      against(MANY, times.many),
    ],
    raw: {
      "1,000 rules about 200 tools, p50 µs": times.many,
      "1,000 rules about 45 tools, p50 µs": times.crowded,
      "50 rules about 45 tools, p50 µs": times.few,
    },
    notes: ["Ten of the conditional rules are about every action, the others about one tool each."],
  };
};
