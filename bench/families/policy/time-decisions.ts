import type { CedarRequest } from "../../../packages/kernel/src/policy/cedar/cedar.ts";
import { percentile } from "../../harness/statistics.ts";
import type { Decide } from "./engines.ts";

export interface DecisionTimes {
  readonly p50Us: number;
  readonly p99Us: number;
}

/** Times every single decision, of all requests in turn. */
export function timeDecisions(decide: Decide, requests: readonly CedarRequest[], milliseconds: number): DecisionTimes {
  const times: number[] = [];
  const endMs = performance.now() + milliseconds;
  for (let nowMs = performance.now(); nowMs < endMs; ) {
    for (const request of requests) {
      const startedMs = performance.now();
      decide(request);
      nowMs = performance.now();
      times.push((nowMs - startedMs) * 1000);
    }
  }
  return { p50Us: percentile(times, 0.5), p99Us: percentile(times, 0.99) };
}

/** Engines that disagree do not do the same work. */
export function requireAgreement(engines: Readonly<Record<string, Decide>>, requests: readonly CedarRequest[]): void {
  for (const [number, request] of requests.entries()) {
    const answers = Object.entries(engines).map(([name, decide]) => `${name}: ${decide(request)}`);
    if (new Set(answers.map((answer) => answer.split(": ")[1])).size > 1) {
      throw new Error(`request ${number} is answered differently: ${answers.join(", ")}`);
    }
  }
}
