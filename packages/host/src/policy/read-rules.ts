import type { JsonObject } from "@narthex/contracts";
import type { PolicyFile, PolicyRule } from "@narthex/kernel";
import { cedarMessage, cedarOffset } from "./cedar-message.ts";
import type { Cedar } from "./cedar-wasm.ts";
import { createFilePositions, type FilePositions } from "./file-positions.ts";
import type { PolicyProblems } from "./policy-problems.ts";
import { annotationProblem, approvalFrom, overridesFrom, ruleProblem } from "./rule-annotations.ts";
import { type RuleText, splitRules } from "./split-rules.ts";

/** One rule of a loaded set. */
export interface LoadedRule extends PolicyRule {
  readonly effect: "permit" | "forbid";
  /** Source text, annotations included. */
  readonly text: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A parsed rule that is not yet part of a set. */
export interface ParsedRule {
  readonly rule: LoadedRule;
  /** Cedar's own JSON form. */
  readonly json: JsonObject;
  /** Converts an offset in the rule's text to `file:line:column`. */
  placeOf(offset: number): string;
}

export const MAX_RULES = 10_000;

/** Parses the rules of one file, at most `limit`. Reports every problem to `problems`. */
export function readRules(cedar: Cedar, file: PolicyFile, limit: number, problems: PolicyProblems): ParsedRule[] {
  const places = createFilePositions(file);
  const pieces = splitRules(file.text);
  if (pieces.length > limit) {
    problems.add("", "max_items", `there are more than ${MAX_RULES} rules`);
    return [];
  }
  const before = problems.count;
  const rules = pieces.flatMap((piece, index) => readRule(cedar, { file, places, piece, number: index + 1 }, problems));
  if (problems.count === before) compareWithCedar(cedar, file, rules.length, problems);
  return rules;
}

interface RuleSource {
  readonly file: PolicyFile;
  readonly places: FilePositions;
  readonly piece: RuleText;
  /** Number of the rule in its file, from 1. */
  readonly number: number;
}

function readRule(cedar: Cedar, { file, places, piece, number }: RuleSource, problems: PolicyProblems): ParsedRule[] {
  const { text, offset } = piece;
  const placeOf = (inRule: number): string => places.format(offset + inRule);
  const parsed = cedar.policyToJson(text);
  if (parsed.type === "failure") {
    for (const error of parsed.errors)
      problems.add(placeOf(cedarOffset(text, error)), "malformed", cedarMessage(error));
    return [];
  }
  const { effect, annotations = {} } = parsed.json;
  const valueOf = (name: string): unknown => (Object.hasOwn(annotations, name) ? annotations[name] : undefined);
  for (const annotation of piece.annotations) {
    const problem = annotationProblem(annotation.name, valueOf(annotation.name), effect);
    if (problem !== undefined) problems.add(places.format(annotation.offset), problem.rule, problem.message);
  }
  for (const at of piece.longNumbers) {
    problems.add(places.format(at), "range", "the number is too large; whole numbers go up to 9007199254740991");
  }
  const textOf = (name: string): string | undefined => {
    const value = valueOf(name);
    return typeof value === "string" ? value : undefined;
  };
  const rule: LoadedRule = Object.freeze({
    id: textOf("id") ?? `${file.name}#${number}`,
    effect,
    approve: approvalFrom(valueOf("approve")),
    overrides: overridesFrom(valueOf("overrides")),
    rationale: textOf("rationale"),
    message: textOf("message"),
    text,
    file: file.name,
    ...places.at(offset),
  });
  const problem = effect === "permit" ? ruleProblem(rule) : undefined;
  if (problem !== undefined) problems.add(placeOf(0), "format", problem);
  // Safe cast: Cedar's result comes from JSON.parse.
  return [{ rule, json: parsed.json as unknown as JsonObject, placeOf }];
}

/** SECURITY: verifies that Cedar finds the same number of rules in the whole file as there are pieces. */
function compareWithCedar(cedar: Cedar, file: PolicyFile, count: number, problems: PolicyProblems): void {
  const whole = cedar.policySetTextToParts(file.text);
  const places = createFilePositions(file);
  if (whole.type === "failure") {
    for (const error of whole.errors) {
      problems.add(places.format(cedarOffset(file.text, error)), "malformed", cedarMessage(error));
    }
  } else if (whole.policies.length !== count || whole.policy_templates.length > 0) {
    problems.add(
      places.format(0),
      "malformed",
      "the rules of this file cannot be told apart; write each on its own lines",
    );
  }
}
