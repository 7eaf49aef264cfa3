import { MAX_ID_LEN } from "@narthex/contracts";
import { nearestName } from "../capability/nearest-name.ts";
import { quoteText } from "../capability/quote-text.ts";
import type { ApprovalDemand, PolicyRule } from "./policy.ts";
import { type PolicyFile, policyFault } from "./policy-file.ts";
import { type CedarToken, scanCedar } from "./scan-cedar.ts";

/** A rule that permits one action. */
export interface CedarPermit {
  readonly rule: PolicyRule;
  /** The tool's name. */
  readonly action: string;
  readonly file: PolicyFile;
  /** Of its first character in the file. */
  readonly offset: number;
}

const LONGEST_FILE = 1_048_576;
const LONGEST_MESSAGE = 1024;

const FORM = 'permit(principal, action == Action::"TOOL", resource);';
const ONLY_FORM = `only ${FORM} is allowed here`;

const ANNOTATIONS = ["id", "approve", "rationale", "message"] as const;
type Annotation = (typeof ANNOTATIONS)[number];

const APPROVE_ANSWERS = ["human", "console", "none"] as const;
const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;
const RATIONALE = /^[A-Z][A-Z0-9_]{0,63}$/;
const CONTROL = /\p{Cc}/u;

/**
 * Reads the part of Cedar in which every rule permits one tool. What is read here means the same to Cedar itself;
 * everything else of Cedar is a load error, never skipped. Throws POLICY_INVALID with `file:line:column`.
 */
export function parseCedarSubset(file: PolicyFile): CedarPermit[] {
  if (file.text.length > LONGEST_FILE) throw policyFault(file, 0, "the file is longer than 1 MB; split it");
  const cursor = createCursor(file, scanCedar(file));
  const permits: CedarPermit[] = [];
  while (cursor.peek().kind !== "end") permits.push(parsePermit(file, cursor, permits.length + 1));
  return permits;
}

function parsePermit(file: PolicyFile, cursor: Cursor, number: number): CedarPermit {
  const start = cursor.peek().offset;
  const annotations = parseAnnotations(file, cursor);
  const effect = cursor.peek();
  if (isWord(effect, "forbid")) throw policyFault(file, effect.offset, `forbid is not supported yet; ${ONLY_FORM}`);
  cursor.word("permit");
  cursor.mark("(");
  cursor.word("principal");
  refuseConstraint(file, cursor, "principal");
  cursor.mark(",");
  const action = parseAction(file, cursor);
  cursor.mark(",");
  cursor.word("resource");
  refuseConstraint(file, cursor, "resource");
  cursor.mark(")");
  refuseCondition(file, cursor);
  cursor.mark(";");
  const rule: PolicyRule = Object.freeze({
    id: annotations.get("id") ?? `${file.name}#${number}`,
    approve: approvalFrom(annotations.get("approve")),
    rationale: annotations.get("rationale"),
    message: annotations.get("message"),
  });
  return { rule, action, file, offset: start };
}

function parseAnnotations(file: PolicyFile, cursor: Cursor): Map<Annotation, string> {
  const found = new Map<Annotation, string>();
  while (isMark(cursor.peek(), "@")) {
    cursor.next();
    const key = cursor.next();
    const name = ANNOTATIONS.find((known) => key.kind === "word" && known === key.value);
    if (name === undefined) throw policyFault(file, key.offset, unknownAnnotation(key));
    if (found.has(name)) throw policyFault(file, key.offset, `@${name} is given twice; a rule has one`);
    cursor.mark("(");
    const value = cursor.text(`the value of @${name} in double quotes`);
    const problem = annotationProblem(name, value.value);
    if (problem !== undefined) throw policyFault(file, value.offset, problem);
    cursor.mark(")");
    found.set(name, value.value);
  }
  return found;
}

function unknownAnnotation(key: CedarToken): string {
  const nearest = key.kind === "word" ? nearestName(key.value, ANNOTATIONS) : undefined;
  const hint = nearest === undefined ? "" : `; did you mean @${nearest}?`;
  return `${quoteText(key.value)} is not an annotation; allowed are @id, @approve, @rationale and @message${hint}`;
}

function annotationProblem(name: Annotation, value: string): string | undefined {
  switch (name) {
    case "id":
      if (value === "" || value.length > MAX_ID_LEN || CONTROL.test(value)) {
        return `@id must have 1 to ${MAX_ID_LEN} characters, none of them a control character`;
      }
      // SECURITY: `kernel:` ids name the kernel's own refusals in answers and in the ledger.
      return value.startsWith("kernel:") ? "@id must not start with kernel:, which names the kernel itself" : undefined;
    case "approve":
      return APPROVE_ANSWERS.some((answer) => answer === value)
        ? undefined
        : `@approve must be "human", "console" or "none", not ${quoteText(value)}`;
    case "rationale":
      return RATIONALE.test(value) ? undefined : "@rationale must be a code such as WORKSPACE_READ";
    case "message":
      return value === "" || value.length > LONGEST_MESSAGE || CONTROL.test(value)
        ? `@message must be one line of 1 to ${LONGEST_MESSAGE} characters`
        : undefined;
  }
}

function approvalFrom(value: string | undefined): ApprovalDemand {
  return APPROVE_ANSWERS.find((answer) => answer === value) ?? "unstated";
}

function parseAction(file: PolicyFile, cursor: Cursor): string {
  cursor.word("action");
  const operator = cursor.peek();
  if (isMark(operator, ",")) {
    throw policyFault(file, operator.offset, `a rule for every action is not supported yet; ${ONLY_FORM}`);
  }
  if (!isMark(operator, "==")) {
    const given = `action ${operator.value}`;
    throw policyFault(file, operator.offset, `${quoteText(given)} is not supported yet; ${ONLY_FORM}`);
  }
  cursor.next();
  cursor.word("Action");
  cursor.mark("::");
  const name = cursor.text("a tool's name in double quotes");
  if (TOOL_NAME.test(name.value)) return name.value;
  const rule = "a name starts with a small letter and has at most 64 small letters, digits and _";
  throw policyFault(file, name.offset, `no tool can be called ${quoteText(name.value)}; ${rule}`);
}

function refuseConstraint(file: PolicyFile, cursor: Cursor, variable: string): void {
  const { kind, value, offset } = cursor.peek();
  if (kind === "mark" && (value === "," || value === ")")) return;
  throw policyFault(file, offset, `constraining the ${variable} is not supported yet; ${ONLY_FORM}`);
}

function refuseCondition(file: PolicyFile, cursor: Cursor): void {
  const token = cursor.peek();
  if (!isWord(token, "when") && !isWord(token, "unless")) return;
  throw policyFault(file, token.offset, `${token.value} is not supported yet; ${ONLY_FORM}`);
}

interface Cursor {
  peek(): CedarToken;
  next(): CedarToken;
  word(value: string): void;
  mark(value: string): void;
  text(expected: string): CedarToken;
}

function createCursor(file: PolicyFile, tokens: readonly CedarToken[]): Cursor {
  let position = 0;
  const last: CedarToken = { kind: "end", value: "the end of the file", offset: file.text.length };
  const peek = (): CedarToken => tokens[position] ?? last;
  const next = (): CedarToken => tokens[position++] ?? last;
  const take = (isExpected: (token: CedarToken) => boolean, expected: string): CedarToken => {
    const token = next();
    if (isExpected(token)) return token;
    const found = token.kind === "end" ? token.value : quoteText(token.value);
    throw policyFault(file, token.offset, `expected ${expected}, found ${found}; ${ONLY_FORM}`);
  };
  return {
    peek,
    next,
    word: (value) => void take((token) => isWord(token, value), value),
    mark: (value) => void take((token) => isMark(token, value), `\`${value}\``),
    text: (expected) => take((token) => token.kind === "text", expected),
  };
}

function isWord(token: CedarToken, value: string): boolean {
  return token.kind === "word" && token.value === value;
}

function isMark(token: CedarToken, value: string): boolean {
  return token.kind === "mark" && token.value === value;
}
