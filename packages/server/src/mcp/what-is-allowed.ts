import type { JsonObject } from "@narthex/contracts";
import type { CallExplanation, RuleFinding } from "@narthex/kernel";
import type { McpCaller } from "./mcp-caller.ts";

const MAX_RULES = 3;
const MAX_CONDITION = 300;

/** Of a denied call: what came nearest to allowing it, for a model that looks for another way. */
export async function whatIsAllowed(caller: McpCaller, name: string, input: JsonObject): Promise<readonly string[]> {
  let explanation: CallExplanation;
  try {
    explanation = await caller.explain(name, input);
  } catch {
    // The denial stands without it.
    return [];
  }
  const near = explanation.questions
    .filter(({ allowed }) => !allowed)
    .flatMap(({ rules }) => rules)
    .filter(({ effect, verdict }) => effect === "permit" && verdict === "almost");
  const byId = new Map(near.map((rule) => [rule.id, rule]));
  return [...byId.values()].slice(0, MAX_RULES).map(describe);
}

function describe({ id, because }: RuleFinding): string {
  const [condition = ""] = because;
  const text = condition.replace(/\s+/g, " ");
  const shown = text.length > MAX_CONDITION ? `${text.slice(0, MAX_CONDITION)}…` : text;
  return `Rule ${id} would allow it if this held: ${shown}`;
}
