import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "@narthex/contracts";
import type { CedarDecision, CedarEngine, CedarPolicy } from "../../packages/kernel/src/policy/cedar/cedar.ts";
import type { CampaignOutcome, CampaignRound } from "../campaign.ts";
import { Chance } from "../chance/chance.ts";
import { Findings } from "../chance/findings.ts";
import { inBatches } from "../chance/in-batches.ts";
import { anyPolicies } from "./any-policies.ts";
import { anyRequest } from "./any-request.ts";
import { loadWasmEngine, throughText } from "./wasm-engine.ts";

/** Loading a set costs as much as some ten requests. */
const REQUESTS_PER_SET = 20;
/** One set in so many comes by way of Cedar's text. */
const TEXT_SETS = 4;

interface Contest {
  readonly policies: readonly CedarPolicy[];
  readonly ours: CedarEngine;
  readonly cedar: CedarEngine;
  readonly operators: ReadonlySet<string>;
}

/** Asks both engines the same: they agree on the answer, on the rules that determined it, and on those with errors. */
export async function compareEngines(
  round: CampaignRound,
  compile: (policies: readonly CedarPolicy[]) => CedarEngine,
): Promise<CampaignOutcome> {
  const findings = new Findings();
  let contest: Contest | undefined;
  await inBatches(round, (number) => {
    if (number % REQUESTS_PER_SET === 0) {
      contest = undefined;
      findings.check(
        () => `set ${number / REQUESTS_PER_SET}`,
        () => {
          contest = prepare(round.seed, number / REQUESTS_PER_SET, compile);
        },
      );
      findings.count("policy sets");
    }
    if (contest !== undefined) compareOne(contest, number, new Chance(round.seed, 2 * number + 1), findings);
  });
  return findings.outcome(round.count);
}

function prepare(seed: number, place: number, compile: (policies: readonly CedarPolicy[]) => CedarEngine): Contest {
  const made = anyPolicies(new Chance(seed, 2 * place));
  const policies = place % TEXT_SETS === 0 ? throughText(made) : made;
  const operators = new Set<string>();
  for (const { json } of policies) collectOperators(json, operators);
  return { policies, ours: compile(policies), cedar: loadWasmEngine(policies), operators };
}

function compareOne(contest: Contest, number: number, chance: Chance, findings: Findings): void {
  const { policies, ours, cedar, operators } = contest;
  const request = anyRequest(chance);
  findings.check(
    () => `request ${number}`,
    () => {
      const expected = cedar.evaluate(request);
      const given = ours.evaluate(request);
      if (!isDeepStrictEqual(comparable(given), comparable(expected))) {
        const differing = policies.filter(({ id }) => outcomeOf(given, id) !== outcomeOf(expected, id));
        throw new Error(`the engines differ: ${JSON.stringify({ given, expected, differing, request })}`);
      }
      countAnswer(expected, policies, findings);
      for (const operator of operators) findings.count(`asked of sets with ${operator}`);
    },
  );
}

function outcomeOf({ rules, errors }: CedarDecision, id: string): string {
  return errors.some(({ rule }) => rule === id) ? "error" : rules.includes(id) ? "determining" : "none";
}

/** Everything but the wording of errors. */
function comparable({ allowed, rules, errors }: CedarDecision): unknown {
  return { allowed, rules, errors: errors.map(({ rule }) => rule) };
}

function countAnswer(
  { allowed, rules, errors }: CedarDecision,
  policies: readonly CedarPolicy[],
  findings: Findings,
): void {
  const outcome = allowed ? "allowed" : rules.length > 0 ? "denied by a forbid" : "denied by no rule";
  findings.count(`answers: ${outcome}`);
  findings.count("rules evaluated or passed over", policies.length);
  findings.count("rules that determined an answer", rules.length);
  findings.count("rules with an error", errors.length);
  if (errors.length > 0) findings.count(`answers: ${allowed ? "allowed" : "denied"} beside an error`);
}

/** Names of operators, and of what a scope says. */
function collectOperators(node: JsonValue, found: Set<string>): void {
  if (Array.isArray(node)) for (const item of node) collectOperators(item, found);
  if (typeof node !== "object" || node === null || Array.isArray(node)) return;
  for (const [name, value] of Object.entries(node)) {
    if (name === "op" && typeof value === "string") found.add(`a scope with ${value}`);
    if (OPERATORS.has(name)) found.add(`\`${name}\``);
    collectOperators(value, found);
  }
}

const OPERATORS = new Set(
  "! neg == != < <= > >= && || + - * in has like is if-then-else contains containsAll containsAny isEmpty . Set Record hasTag getTag".split(
    " ",
  ),
);
