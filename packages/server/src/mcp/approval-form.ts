import { type ElicitRequestFormParams, inputResponse } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonValue, type Mark, markText } from "@narthex/contracts";
import type { McpApprovalRequest } from "./mcp-caller.ts";

/** A client's response to a form; only `once` and `deny` decide anything. */
export type FormDecision = "once" | "deny" | "decline" | "cancel" | "no_answer";

/** Longer calls are not shown in a client, because a call that was cut must not be approved. */
const MAX_MESSAGE = 16 * 1024;

/** Creates the form of an approval request. Undefined if it would be too long to be shown whole. */
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
 * SECURITY: only a submitted plain `true` is an approval, and only a submitted plain `false` is a person's denial. A
 * client declines and cancels by itself, also without showing the form to anyone: such a response decides nothing, and
 * the approval request stays pending at every other door.
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
 * SECURITY: the agent chose the input. It is shown as JSON, whose strings contain no raw line breaks, with every hidden
 * or ambiguous character made visible; so no line of the form except the first and those below the last heading can
 * come from the agent. Anything cut from the first line is shown whole below.
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

/** Fields that say what a call is about, in the order in which people want to see them. */
const SUBJECTS = ["command", "operation", "args", "source", "destination", "path", "url", "database", "sql"] as const;
const MAX_SUBJECT = 240;
/** Length of the end that is kept of a cut subject; it may matter as much as the beginning. */
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

/**
 * Counts line breaks and similar escapes in strings if there are many: they would push the text before them out of
 * view.
 */
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
