import type { JsonValue } from "@narthex/contracts";
import type { CallExplanation, RuleFinding } from "@narthex/kernel";
import type { AgentSession } from "./agent-session.ts";

const MAX_LINES = 3;
const MAX_CONDITION = 300;

/** Of a denied call: which rules came nearest to allowing it, for a model that looks for another way. */
export async function whatIsAllowed(
  session: Pick<AgentSession, "explain">,
  tool: string,
  input: JsonValue,
): Promise<readonly string[]> {
  let explanation: CallExplanation;
  try {
    explanation = await session.explain(tool, input);
  } catch {
    // The denial stands without it.
    return [];
  }
  const near = explanation.questions
    // What is forbidden stays so, whatever would permit it.
    .filter(({ allowed, rules }) => !allowed && !rules.some(isForbidding))
    .flatMap(({ rules }) => rules)
    .filter(({ effect, verdict }) => effect === "permit" && verdict === "almost");
  const byId = new Map(near.map((rule) => [rule.id, rule]));
  return [...byId.values()].slice(0, MAX_LINES).map(describe);
}

function isForbidding({ effect, verdict }: RuleFinding): boolean {
  return effect === "forbid" && verdict !== "almost";
}

function describe({ id, because }: RuleFinding): string {
  const [condition = ""] = because;
  const text = condition.replace(/\s+/g, " ");
  const shown = text.length > MAX_CONDITION ? `${text.slice(0, MAX_CONDITION).toWellFormed()}…` : text;
  return `Rule ${id} would allow it if this held: ${shown}`;
}
