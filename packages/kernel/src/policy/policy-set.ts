import { blake3, canonicalJsonBytes, isKernelError, type Violation } from "@narthex/contracts";
import { quoteText } from "../capability/quote-text.ts";
import { type CedarPermit, parseCedarSubset } from "./parse-cedar-subset.ts";
import type { PolicyAnswer, PolicyRule, PolicySet } from "./policy.ts";
import { type PolicyFile, placeIn, policyInvalid } from "./policy-file.ts";

const ALLOW_LIST_ENGINE = "narthex-allow-list/1";

/** Why nothing is permitted when nobody has written a rule. */
export const NO_POLICY =
  "no policy is loaded, so every call is denied; put a .cedar file with a permit rule into the policy directory";

const MOST_FILES = 1000;
const MOST_RULES = 10_000;
const MOST_VIOLATIONS = 100;
const FILE_NAME = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** A valid set, and its answer to every action it permits. */
export interface AllowList {
  readonly set: PolicySet;
  readonly answers: ReadonlyMap<string, PolicyAnswer>;
}

/** Reads and checks a whole set; throws POLICY_INVALID with the problems of every file. */
export function policySetFrom(files: readonly PolicyFile[]): AllowList {
  const sorted = files.map(({ name, text }) => ({ name, text })).sort((left, right) => compare(left.name, right.name));
  const permits = readPermits(sorted);
  if (permits.length === 0) throw policyInvalid([{ field: "", rule: "required", message: NO_POLICY }]);
  const bytes = canonicalJsonBytes(sorted);
  const set: PolicySet = Object.freeze({
    hash: blake3(bytes),
    schemaHash: blake3(canonicalJsonBytes({})),
    engine: ALLOW_LIST_ENGINE,
    ruleCount: permits.length,
    bytes,
  });
  return { set, answers: answersByAction(permits) };
}

function readPermits(files: readonly PolicyFile[]): CedarPermit[] {
  const permits: CedarPermit[] = [];
  const violations: Violation[] = [];
  const names = new Set<string>();
  if (files.length > MOST_FILES) violations.push(setProblem(`there are more than ${MOST_FILES} policy files`));
  for (const file of files.slice(0, MOST_FILES)) {
    if (!FILE_NAME.test(file.name)) violations.push(setProblem(`${quoteText(file.name)} is no name for a policy file`));
    if (names.has(file.name)) violations.push(setProblem(`there are two files named ${quoteText(file.name)}`));
    names.add(file.name);
    try {
      for (const permit of parseCedarSubset(file)) permits.push(permit);
    } catch (error) {
      if (!isKernelError(error)) throw error;
      violations.push(...error.violations);
    }
  }
  if (permits.length > MOST_RULES) violations.push(setProblem(`there are more than ${MOST_RULES} rules`));
  violations.push(...repeatedIds(permits));
  if (violations.length > 0) throw policyInvalid(violations);
  return permits;
}

function setProblem(message: string): Violation {
  return { field: "", rule: "malformed", message };
}

function repeatedIds(permits: readonly CedarPermit[]): Violation[] {
  const firsts = new Map<string, CedarPermit>();
  const violations: Violation[] = [];
  for (const permit of permits) {
    const { id } = permit.rule;
    const first = firsts.get(id);
    if (first === undefined) firsts.set(id, permit);
    else if (violations.length < MOST_VIOLATIONS) {
      const taken = `the rule id ${quoteText(id)} is taken by ${placeIn(first.file, first.offset)}`;
      const message = `${taken}; give each rule an @id of its own`;
      violations.push({ field: placeIn(permit.file, permit.offset), rule: "duplicate", message });
    }
  }
  return violations;
}

function answersByAction(permits: readonly CedarPermit[]): Map<string, PolicyAnswer> {
  const rulesOf = new Map<string, PolicyRule[]>();
  for (const { action, rule } of permits) {
    const rules = rulesOf.get(action);
    if (rules === undefined) rulesOf.set(action, [rule]);
    else rules.push(rule);
  }
  const answers = new Map<string, PolicyAnswer>();
  for (const [action, rules] of rulesOf) {
    rules.sort((left, right) => compare(left.id, right.id));
    answers.set(action, Object.freeze({ allowed: true, rules: Object.freeze(rules), errors: Object.freeze([]) }));
  }
  return answers;
}

/** By code unit: the same on every machine. */
function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
