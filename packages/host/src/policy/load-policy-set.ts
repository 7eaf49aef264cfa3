import { canonicalJsonBytes, type Violation } from "@narthex/contracts";
import { type CedarPolicy, type PolicyFile, type PolicySchema, quoteText } from "@narthex/kernel";
import { loadCedar } from "./cedar-wasm.ts";
import { checkPolicyFiles } from "./check-policy-files.ts";
import { createPolicyProblems, type PolicyProblems } from "./policy-problems.ts";
import { type LoadedRule, MAX_RULES, type ParsedRule, readRules } from "./read-rules.ts";
import { validateRules } from "./validate-rules.ts";

/** A valid policy set, ready to be put in force. */
export interface LoadedPolicySet {
  /** Ordered by file name, then by position in the file. */
  readonly rules: readonly LoadedRule[];
  /** The same rules in the same order, in Cedar's JSON form. */
  readonly policies: readonly CedarPolicy[];
  /** Canonical JSON of the files, sorted by name: the input of the policy hash. */
  readonly bytes: Uint8Array;
  /** Rules that match less than they seem to, by `file:line:column`. */
  readonly warnings: readonly Violation[];
}

/** Denial message when there are no rules. */
const NO_RULES =
  "there is no rule, so every call is denied; put a .cedar file with a permit rule into the policy directory";

/** Loads a whole set and validates it strictly. Throws POLICY_INVALID with every problem of every file. */
export async function loadPolicySet(files: readonly PolicyFile[], schema: PolicySchema): Promise<LoadedPolicySet> {
  const cedar = await loadCedar();
  const problems = createPolicyProblems();
  const read: ParsedRule[] = [];
  for (const file of checkPolicyFiles(files, problems)) {
    for (const rule of readRules(cedar, file, MAX_RULES - read.length, problems)) read.push(rule);
  }
  refuseRepeatedIds(read, problems);
  const warnings = read.length === 0 ? [] : validateRules(cedar, read, schema, problems);
  if (read.length === 0 && problems.count === 0) problems.add("", "required", NO_RULES);
  problems.throwIfAny();
  return {
    rules: read.map(({ rule }) => rule),
    policies: read.map(({ rule, json }) => ({ id: rule.id, json })),
    bytes: policySetBytes(files),
    warnings,
  };
}

export function policySetBytes(files: readonly PolicyFile[]): Uint8Array {
  const sorted = files
    .map(({ name, text }) => ({ name, text }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
  return canonicalJsonBytes(sorted);
}

function refuseRepeatedIds(rules: readonly ParsedRule[], problems: PolicyProblems): void {
  const firsts = new Map<string, ParsedRule>();
  for (const read of rules) {
    const { id } = read.rule;
    const first = firsts.get(id);
    if (first === undefined) firsts.set(id, read);
    else {
      const taken = `the rule id ${quoteText(id)} is taken by ${first.placeOf(0)}`;
      problems.add(read.placeOf(0), "duplicate", `${taken}; give each rule an @id of its own`);
    }
  }
}
