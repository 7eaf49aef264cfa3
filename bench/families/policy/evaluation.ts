import { interleave } from "../../harness/interleave.ts";
import type { Measurement, Row } from "../../harness/measurement.ts";
import { openCasbin, openCasl, openCompiled, openPreparsed, openWasm } from "./engines.ts";
import { sampleRequests } from "./sample-requests.ts";
import { DEFAULT_TOOLS, sampleRules } from "./sample-rules.ts";
import { type DecisionTimes, requireAgreement, timeDecisions } from "./time-decisions.ts";

const RULES = 50;
const ROUND_MS = 600;
const MAX_P50_US = 15;

/** One request against a set like the default one and 50 rules with conditions, with 4 entities. */
export const evaluation: Measurement = async ({ rounds, scale }) => {
  const rules = sampleRules({ rules: RULES, tools: DEFAULT_TOOLS });
  const requests = sampleRequests(DEFAULT_TOOLS);
  const engines = {
    ours: openCompiled(rules),
    wasm: openWasm(rules),
    preparsed: openPreparsed(rules),
    casbin: await openCasbin(rules),
    casl: openCasl(rules),
  };
  requireAgreement(engines, requests);
  const time = (name: keyof typeof engines) => () => timeDecisions(engines[name], requests, ROUND_MS * scale);
  const times = await interleave(rounds, {
    ours: time("ours"),
    wasm: time("wasm"),
    preparsed: time("preparsed"),
    casbin: time("casbin"),
    casl: time("casl"),
  });

  const what = `policy evaluated, ${rules.length} rules, 4 entities`;
  const ours = p50Of(times.ours);
  const against = (name: string, results: readonly DecisionTimes[]): Row => ({
    what: `${what}: p50`,
    ours: { value: Math.min(...ours), unit: "µs" },
    beside: { value: Math.min(...p50Of(results)), unit: "µs", name },
  });
  return {
    rows: [
      {
        ...against("cedar-wasm, isAuthorized", times.wasm),
        bar: { of: "ours", limit: "at most", value: MAX_P50_US },
        picture: "policy evaluated, p50",
      },
      against("cedar-wasm, rules parsed before", times.preparsed),
      against("casbin", times.casbin),
      against("casl", times.casl),
      {
        what: `${what}: p99`,
        ours: { value: Math.min(...p99Of(times.ours)), unit: "µs" },
        beside: { value: Math.min(...p99Of(times.casl)), unit: "µs", name: "casl" },
      },
    ],
    raw: {
      "ours, p50 µs": ours,
      "ours, p99 µs": p99Of(times.ours),
      "cedar-wasm isAuthorized, p50 µs": p50Of(times.wasm),
      "cedar-wasm parsed before, p50 µs": p50Of(times.preparsed),
      "casbin, p50 µs": p50Of(times.casbin),
      "casl, p50 µs": p50Of(times.casl),
      "casl, p99 µs": p99Of(times.casl),
    },
  };
};

function p50Of(results: readonly DecisionTimes[]): number[] {
  return results.map(({ p50Us }) => p50Us);
}

function p99Of(results: readonly DecisionTimes[]): number[] {
  return results.map(({ p99Us }) => p99Us);
}
