import type { JsonValue } from "@narthex/contracts";
import type { Capability } from "@narthex/kernel";

export const EXPECTED_DECISIONS = ["allow", "ask", "deny"] as const;
export type ExpectedDecision = (typeof EXPECTED_DECISIONS)[number];

/** A call and the decision that the rules are expected to make about it. */
export interface PolicyExample {
  readonly expected: ExpectedDecision;
  readonly tool: string;
  readonly input: JsonValue;
  /** Labels of the session. */
  readonly labels: readonly string[];
  /** Capabilities of the session besides the default lease: the hosts that the example names. */
  readonly capabilities: readonly Capability[];
  /** Rule that is expected to decide. */
  readonly rule: string | undefined;
  /** Rationale code that a denial is expected to have. */
  readonly code: string | undefined;
  readonly file: string;
  readonly line: number;
}

/** The decision that the rules actually make. */
export interface ExampleDecision {
  readonly answer: ExpectedDecision;
  readonly rules: readonly string[];
  /** Empty if allowed. */
  readonly code: string;
}

export type DecideExample = (example: PolicyExample) => ExampleDecision | Promise<ExampleDecision>;

export interface ExampleFailure {
  readonly example: PolicyExample;
  readonly answer: ExampleDecision;
  /** One line: the expected and the actual decision. */
  readonly problem: string;
}

/** Evaluates each example and returns those with an unexpected decision. */
export async function runExamples(
  examples: readonly PolicyExample[],
  decide: DecideExample,
): Promise<ExampleFailure[]> {
  const failures: ExampleFailure[] = [];
  for (const example of examples) {
    const answer = await decide(example);
    const problem = problemOf(example, answer);
    if (problem !== undefined) failures.push({ example, answer, problem });
  }
  return failures;
}

function problemOf(example: PolicyExample, { answer, rules, code }: ExampleDecision): string | undefined {
  const by = rules.length === 0 ? "no rule" : rules.join(", ");
  const because = code === "" ? "" : ` with ${code}`;
  if (answer !== example.expected) return `should be ${example.expected}, is ${answer}${because} by ${by}`;
  if (example.rule !== undefined && !rules.includes(example.rule)) {
    return `should be decided by ${example.rule}, is decided by ${by}`;
  }
  if (example.code !== undefined && example.code !== code)
    return `should say ${example.code}, says ${code || "nothing"}`;
  return undefined;
}
