import { type ElicitRequestFormParams, inputResponse } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonValue, type Mark, markText } from "@narthex/contracts";
import type { McpApprovalRequest } from "./mcp-caller.ts";

/** How a client answered a form; only `once` and `deny` decide anything. */
export type FormDecision = "once" | "deny" | "decline" | "cancel" | "no_answer";

/** A call that is longer is not shown in a client: nobody says yes to what was cut. */
const MAX_MESSAGE = 16 * 1024;

/** A question as a form. Undefined if it would be too long to be shown whole. */
export function createApprovalForm(question: McpApprovalRequest): ElicitRequestFormParams | undefined {
  const message = renderMessage(question);
  if (message.length > MAX_MESSAGE) return undefined;
  return {
    mode: "form",
    message,
    requestedSchema: {
      type: "object",
      properties: {
        approve: { type: "boolean", title: "Allow this call, once", description: "false denies the call." },
      },
      required: ["approve"],
    },
  };
}

/**
 * SECURITY: only a plain `true` that was sent off is a yes, and only a plain `false` that was sent off is a person's no. A
 * client declines and cancels by itself, also without showing the form to anyone: such an answer decides nothing, and the
 * question stays open at every other door.
 */
export function readFormDecision(result: unknown): FormDecision {
  const answer = inputResponse({ approval: result }, "approval");
  if (answer.kind !== "elicit") return "no_answer";
  if (answer.action !== "accept") return answer.action;
  const said = answer.content?.["approve"];
  if (said === true) return "once";
  return said === false ? "deny" : "no_answer";
}

/**
 * The call comes first: clients show the first few lines and fold the rest.
 *
 * SECURITY: the agent chose the input. It is shown as JSON, whose texts have no lines of their own, with everything that
 * hides or looks like something else made visible; so no line of the form but the first and those below the last heading
 * can be the agent's. What the first line cuts stands whole below.
 */
function renderMessage({ tool, workspace, effects, labels, messages, notes, input }: McpApprovalRequest): string {
  return [
    `${shown(tool.replace(/@.*$/, ""))}: ${findSubject(input)}`,
    `An agent asks to run ${shown(tool)} in ${shown(workspace)}.`,
    ...(effects.length === 0 ? [] : [`It may: ${effects.join(", ")}.`]),
    ...messages.map((message) => `The rule says: ${shown(message)}`),
    ...notes.map((note) => `Note: ${shown(note)}`),
    ...(labels.length === 0 ? [] : [`What it knows is ${labels.map(shown).join(", ")}.`]),
    "The exact input:",
    countEscapes(JSON.stringify(input, undefined, 2))
      .split("\n")
      .map(shown)
      .join("\n"),
  ].join("\n");
}

/** What a call is about, in the order in which people ask for it. */
const SUBJECTS = ["command", "operation", "args", "source", "destination", "path", "url", "database", "sql"] as const;
const MAX_SUBJECT = 240;
/** Of a subject that is cut; an end may matter as much as the beginning. */
const SUBJECT_END = 80;

function findSubject(input: JsonValue): string {
  const found = isJsonObject(input) ? SUBJECTS.filter((name) => Object.hasOwn(input, name)) : [];
  const values = isJsonObject(input) ? found.map((name) => JSON.stringify(input[name])) : [];
  return cutMiddle(shown(countEscapes(values.length === 0 ? JSON.stringify(input) : values.join(" "))));
}

function cutMiddle(text: string): string {
  if (text.length <= MAX_SUBJECT) return text;
  const end = text.slice(-SUBJECT_END).toWellFormed();
  const begin = text.slice(0, MAX_SUBJECT - SUBJECT_END).toWellFormed();
  return `${begin} [${text.length - MAX_SUBJECT} characters more, see below] ${end}`;
}

/** Line ends and the like in texts, counted where there are many: they would move what stands before them out of view. */
function countEscapes(json: string): string {
  return json.replaceAll(/(\\(?:[nrtbf]|u[0-9a-f]{4}))\1{2,}|\\./g, (run: string, one?: string) =>
    one === undefined ? run : `[${one}*${run.length / one.length}]`,
  );
}

function shown(text: string): string {
  return markText(text)
    .map((part) => (typeof part === "string" ? part.replaceAll("\n", "[U+000A]") : showMark(part)))
    .join("");
}

function showMark({ kind, character, codePoint, count }: Mark): string {
  const times = count === 1 ? "" : `*${count}`;
  return kind === "lookalike" ? `${character}[${codePoint}${times}]` : `[${codePoint}${times}]`;
}
