import { type ApprovalInfo, isJsonObject, type JsonValue, parseJson, type StandingApproval } from "@narthex/contracts";
import { escapedText, markedLine, markedLines } from "../terminal/marked-text.ts";
import { boundLines, type LineBound } from "../terminal/bound-lines.ts";
import type { Paint } from "../terminal/paint.ts";
import { renderFacts } from "../terminal/table.ts";
import { formatCount, formatCounted, formatDuration, formatTime } from "../terminal/units.ts";
import { cutText, visible } from "../terminal/visible.ts";

/** Maximum number of characters shown of a call, unless the user asked for all of it. */
export const MAX_SHOWN_CHARACTERS = 16 * 1024;

/** Renders the call as it would run, whole or up to `bound`, with the facts about its approval. */
export function renderApproval(info: ApprovalInfo, paint: Paint, bound?: LineBound): string[] {
  const whole = renderInput(info.input, paint);
  const input = bound === undefined ? whole : boundLines(whole, bound);
  return [
    `${paint.bold(visible(info.tool))} ${visible(`asked by ${info.agent || "an agent"} in ${info.workspace}`)}`,
    ...input,
    ...info.notes.map((note) => paint.yellow(`note: ${markedLine(note, paint)}`)),
    ...renderFacts([
      // The beginning of the call may have scrolled off the screen by now.
      ...(isLong(input) ? [["begins", summarize(info.input)] as const] : []),
      ["approval", info.approvalId],
      ["session", `${info.sessionId}, request ${info.requestId}`],
      ["user", [info.user, info.tenant].filter((name) => name !== "").join(" of ") || "-"],
      ["rules", [info.ruleIds.join(", "), ...info.messages].join("; ")],
      ["effects", `${info.safetyTier}: ${info.effects.join(", ") || "none"}`],
      ...(info.labels.length === 0 ? [] : [["labels", info.labels.join(", ")] as const]),
      ...(info.kind === "console" ? [["door", "only at the console or with this command"] as const] : []),
      ["expires", `in ${formatDuration(Math.max(0, Number(info.expiresAtMs) - Date.now()))}`],
    ]),
  ];
}

/** Maximum number of rows that a call may take on a narrow terminal before its beginning is repeated. */
const MAX_ROWS = 12;
const ROW = 80;

function isLong(lines: readonly string[]): boolean {
  return lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / ROW)), 0) > MAX_ROWS;
}

/** Renders what a standing approval, for the session or as a rule, would allow. */
export function renderTerms(info: ApprovalInfo, paint: Paint): string[] {
  const always = info.alwaysRuleIds.map((id) => markedLine(id, paint)).join(", ");
  return [
    info.sessionScope === ""
      ? `for the session: not offered${always && `, because ${always} asks for every such call`}`
      : `for the session: ${markedLine(info.sessionScope, paint)}`,
    ...(info.ruleText === "" ? [] : ["as a rule, for every session:", ...markedLines(info.ruleText.trimEnd(), paint)]),
    ...(info.ruleText === "" || always === ""
      ? []
      : [paint.yellow(`this rule lifts ${always}: such calls are not asked about any more`)]),
  ];
}

/** Renders each field separately, so that a command reads as it will run and not as JSON. */
function renderInput(input: string, paint: Paint): string[] {
  const value = parseJson(input);
  if (!isJsonObject(value)) return renderValue("input", value, paint);
  const fields = Object.entries(value);
  return fields.length === 0 ? ["input: {}"] : fields.flatMap(([name, field]) => renderValue(name, field, paint));
}

function renderValue(name: string, value: JsonValue, paint: Paint): string[] {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  const escaped = escapedText(text);
  return [
    `${markedLine(name, paint)}${typeof value === "string" ? ` (${formatCounted(text.length, "character")})` : ""}:`,
    ...markedLines(text, paint),
    ...(escaped === undefined ? [] : ["  the same in ASCII:", ...markedLines(escaped, paint)]),
  ];
}

const MAX_SUMMARY = 72;

/** Summarizes an input in one line for a list, and states when it is cut. */
export function summarize(input: string): string {
  const value = parseJson(input);
  const [only] = isJsonObject(value) ? Object.values(value) : [];
  const isOne = isJsonObject(value) && Object.keys(value).length === 1;
  const text = isOne && typeof only === "string" ? only : input;
  const plain = markedLine(text, UNPAINTED);
  const shown = cutText(plain, MAX_SUMMARY);
  return shown === plain ? plain : `${shown} (cut, ${formatCount(text.length)} characters)`;
}

const same = (text: string): string => text;
const UNPAINTED: Paint = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

export function renderStanding(standing: StandingApproval, paint: Paint): string[] {
  const { standingId, scope, sessionId, tool, approver, door, givenAtMs } = standing;
  const where = scope === "session" ? ` in ${sessionId}` : "";
  return [
    visible(`${standingId}  ${scope}${where}  ${tool}  by ${approver} (${door}) at ${formatTime(givenAtMs)}`),
    ...markedLines(standing.allows.trimEnd(), paint),
  ];
}
