import type { JsonValue } from "@narthex/contracts";
import { type CallExplanation, PROTECTED_ACTION, type RuleFinding } from "@narthex/kernel";
import type { AgentSession } from "./agent-session.ts";

const MAX_LINES = 3;
const MAX_CONDITION = 300;

/** For a denied call: the rules that came nearest to allowing it, so that the model can find another way. */
export async function findNearestRules(
  session: Pick<AgentSession, "explain">,
  tool: string,
  input: JsonValue,
): Promise<readonly string[]> {
  let explanation: CallExplanation;
  try {
    explanation = await session.explain(tool, input);
  } catch {
    // The denial is reported without them.
    return [];
  }
  const refused = explanation.questions.filter(({ allowed }) => !allowed);
  const near = refused
    // A forbidden request stays forbidden, whatever permits it.
    .filter(({ rules }) => !rules.some(isForbidding))
    .flatMap(({ rules }) => rules)
    .filter(isWithinReach);
  const byId = new Map(near.map((rule) => [rule.id, rule]));
  return [...unprotected(explanation), ...[...byId.values()].map(describe)].slice(0, MAX_LINES);
}

/**
 * Facts of the tool, the session and the moment, which every context has. Other arguments cannot change whether a
 * condition on one of them holds.
 */
const FIXED_FACTS = new RegExp(
  "\\bcontext\\s*\\.\\s*(?:tool|version|source|isolation|definition_hash|input_digest|effects|tier|determinism|labels|" +
    "directory|calls|time_ms|budget)\\b|\\b(?:principal|resource)\\b",
);

/**
 * Whether a permit rule fails only because of conditions on the caller's input: a path, a host, a command, an argument.
 */
function isWithinReach({ effect, verdict, because }: RuleFinding): boolean {
  if (effect !== "permit" || verdict !== "almost" || because.length === 0) return false;
  return because.every((condition) => /\bcontext\b/.test(condition) && !FIXED_FACTS.test(condition));
}

/** For a call that is denied only because its path is protected: the rule that permits it on other paths. */
function unprotected({ questions }: CallExplanation): string[] {
  const refused = questions.filter(({ allowed }) => !allowed);
  if (refused.length === 0 || !refused.every(({ action }) => action === PROTECTED_ACTION)) return [];
  const permitting = questions.flatMap(({ action, allowed, rules }) =>
    allowed ? rules.filter(isPermitting).map(({ id }) => `${action} by rule ${id}`) : [],
  );
  const [first] = permitting;
  return first === undefined ? [] : [`Allowed on paths that are not protected: ${first}.`];
}

function isPermitting({ effect, verdict }: RuleFinding): boolean {
  return effect === "permit" && verdict === "matched";
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
