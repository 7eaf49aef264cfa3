import { type ElicitRequestFormParams, inputResponse } from "@modelcontextprotocol/server";
import { type Mark, markText } from "@narthex/contracts";
import type { AskedQuestion } from "./mcp-caller.ts";

/** What somebody at the client made of a question. */
export type FormAnswer = "once" | "deny" | "none";

/** A call that is longer is not shown in a client: nobody says yes to what was cut. */
const MAX_MESSAGE = 16 * 1024;

/** A question as a form. Undefined if it would be too long to be shown whole. */
export function approvalForm(question: AskedQuestion): ElicitRequestFormParams | undefined {
  const message = messageOf(question);
  if (message.length > MAX_MESSAGE) return undefined;
  return {
    mode: "form",
    message,
    requestedSchema: {
      type: "object",
      properties: {
        approve: { type: "boolean", title: "Allow this call, once", description: "Without it the call is denied." },
      },
      required: ["approve"],
    },
  };
}

/** SECURITY: only a plain `true` that was sent off is a yes. A form that was put away is no answer at all. */
export function readFormAnswer(result: unknown): FormAnswer {
  const answer = inputResponse({ approval: result }, "approval");
  if (answer.kind !== "elicit" || answer.action === "cancel") return "none";
  return answer.action === "accept" && answer.content?.["approve"] === true ? "once" : "deny";
}

/**
 * SECURITY: the agent chose the input. It comes last and as JSON, whose texts have no lines of their own, and with
 * everything that hides or looks like something else made visible.
 */
function messageOf({ tool, workspace, effects, labels, messages, notes, input }: AskedQuestion): string {
  return [
    `An agent asks to run ${shown(tool)} in ${shown(workspace)}.`,
    ...(effects.length === 0 ? [] : [`It may: ${effects.join(", ")}.`]),
    ...(labels.length === 0 ? [] : [`What it knows is ${labels.map(shown).join(", ")}.`]),
    ...messages.map((message) => `The rule says: ${shown(message)}`),
    ...notes.map((note) => `Note: ${shown(note)}`),
    "The exact input:",
    countEscapes(JSON.stringify(input, undefined, 2))
      .split("\n")
      .map(shown)
      .join("\n"),
  ].join("\n");
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
