import { type Command, forEachChild, parse, type Redirection, type SyntaxNode, type Word } from "unbash";
import type { AssignmentFacts, ProgramFacts, RedirectionFacts, RedirectionMode } from "./command-facts.ts";
import {
  MAX_ARGUMENTS,
  MAX_COMMAND_DEPTH,
  MAX_OPENINGS,
  MAX_PARSED_COMMAND,
  MAX_PROGRAMS,
  MAX_REDIRECTIONS,
} from "./command-limits.ts";
import { findHiddenCharacter } from "./hidden-characters.ts";
import { literalWord, type WordUse } from "./literal-word.ts";
import { expandProgram } from "./expand-program.ts";

/** The results of the analysis so far. */
export interface Reading {
  /** The first reason why the command is not literal. */
  reason: string;
  readonly programs: ProgramFacts[];
  readonly redirections: RedirectionFacts[];
  readonly assignments: AssignmentFacts[];
  background: boolean;
  changesDirectory: boolean;
}

/** Variables without meaning to loaders, shells, interpreters and version control. */
export const HARMLESS_VARIABLES: ReadonlySet<string> = new Set(
  (
    "CI NODE_ENV NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TERM COLUMNS LINES TZ LANG LC_ALL LC_CTYPE LC_COLLATE " +
    "RUST_BACKTRACE RUST_LOG CARGO_TERM_COLOR PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED " +
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD CGO_ENABLED GOOS GOARCH GOMAXPROCS DEBUG VERBOSE"
  ).split(" "),
);
/** Valid loop variables. Variables that programs read have upper-case names or are proxies. */
const LOOP_VARIABLE = /^(?!.*proxy)[a-z_][a-z0-9_]{0,31}$/;

const MODES: ReadonlyMap<string, RedirectionMode> = new Map<string, RedirectionMode>([
  ["<", "read"],
  [">", "write"],
  [">|", "write"],
  ["&>", "write"],
  [">&", "write"],
  [">>", "append"],
  ["&>>", "append"],
  ["<>", "read_write"],
]);

/** Constructs that are searched for programs but are never literal. */
const NEVER_LITERAL: ReadonlyMap<string, string> = new Map([
  ["Function", "function definition"],
  ["Coproc", "coprocess"],
  ["Select", "select loop"],
  ["ArithmeticFor", "arithmetic"],
  ["ArithmeticCommand", "arithmetic"],
  ["ArithmeticExpansion", "arithmetic"],
  ["TestCommand", "[[ evaluates its operands"],
  ["CommandExpansion", "command substitution"],
  ["ArithmeticCommandExpansion", "command substitution"],
  ["ProcessSubstitution", "process substitution"],
  ["ArrayValue", "array"],
]);

export function readCommand(source: string): Reading {
  const reading: Reading = {
    reason: "",
    programs: [],
    redirections: [],
    assignments: [],
    background: false,
    changesDirectory: false,
  };
  const refused = findParseProblem(source);
  if (refused !== undefined) {
    reading.reason = refused;
    return reading;
  }
  const hidden = findHiddenCharacter(source);
  if (hidden !== undefined) note(reading, `hidden character ${hidden}`);
  if (/[&|;<>(){}]\\\n/.test(source)) note(reading, "line continuation inside an operator");
  try {
    visit(reading, parse(source), 0);
  } catch {
    note(reading, "too much for the parser");
  }
  if (reading.programs.length === 0) note(reading, "nothing to run");
  return reading;
}

function findParseProblem(source: string): string | undefined {
  if (source.length > MAX_PARSED_COMMAND) return `longer than ${MAX_PARSED_COMMAND} characters`;
  let openings = 0;
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code === 0) return "NUL character";
    if (code === 0x28 || code === 0x5b || code === 0x60 || code === 0x7b) openings++;
  }
  return openings > MAX_OPENINGS ? `more than ${MAX_OPENINGS} brackets` : undefined;
}

function note(reading: Reading, reason: string): void {
  if (reading.reason === "") reading.reason = reason;
}

function visit(reading: Reading, node: SyntaxNode, depth: number): void {
  if (depth > MAX_COMMAND_DEPTH * 4) return note(reading, "nested too deeply");
  const never = NEVER_LITERAL.get(node.type);
  if (never !== undefined) note(reading, never);
  switch (node.type) {
    case "Command":
      return visitCommand(reading, node, depth);
    case "Redirect":
    case "HereString":
    case "HereDoc":
      return visitRedirection(reading, node, depth);
    case "Word":
      readWord(reading, node, depth);
      return;
    case "Script":
      if ((node.errors?.length ?? 0) > 0) note(reading, `syntax: ${node.errors?.[0]?.message ?? "error"}`);
      if (node.source !== undefined) note(reading, "command substitution");
      if (node.shebang !== undefined) note(reading, "shebang");
      break;
    case "Statement":
      if (node.background) reading.background = true;
      break;
    case "For":
      if (node.wordlist === undefined) note(reading, "loop over positional parameters");
      if (!LOOP_VARIABLE.test(node.name.text)) note(reading, "loop sets a variable that programs look at");
      break;
    case "Pipeline":
      visitPipeline(reading, node);
      break;
    case "Case":
      readWord(reading, node.word, depth);
      for (const item of node.items) {
        for (const pattern of item.pattern) readWord(reading, pattern, depth, "pattern");
        visit(reading, item.body, depth + 1);
      }
      return;
    case "CompoundList":
    case "AndOr":
    case "If":
    case "Elif":
    case "While":
    case "Subshell":
    case "BraceGroup":
    case "Redirected":
    case "Time":
    case "Negation":
      break;
    default:
      if (never === undefined) note(reading, `unknown construct ${node.type}`);
  }
  forEachChild(node, (child) => visit(reading, child, depth + 1));
}

/** Where the shell has no `time` keyword, the program of that name takes options, and some of them write. */
function visitPipeline(reading: Reading, { prefixes, commands }: Extract<SyntaxNode, { type: "Pipeline" }>): void {
  const [first] = commands;
  if (!prefixes.some(({ type }) => type === "Time") || first === undefined) return;
  if (first.type === "Command" && first.name?.text.startsWith("-") === true) note(reading, "option of time");
}

function visitCommand(reading: Reading, command: Command, depth: number): void {
  if (reading.programs.length === MAX_PROGRAMS) return note(reading, `more than ${MAX_PROGRAMS} programs`);
  const { name, prefix, suffix } = command;
  for (const part of prefix) {
    if (part.type !== "Assignment") visit(reading, part, depth + 1);
    else if (part.value.type === "ArrayValue" || part.append || part.index !== undefined) {
      note(reading, "array or appending assignment");
      forEachChild(part, (child) => visit(reading, child, depth + 1));
    } else addAssignment(reading, part.name, readWord(reading, part.value, depth) ?? part.value.text);
  }
  if (name === undefined) {
    for (const part of suffix) visit(reading, part, depth + 1);
    return note(
      reading,
      prefix.length + suffix.length > 0 ? "assignment or redirection without a program" : "nothing to run",
    );
  }
  let literal = true;
  const read = (word: Word): string => {
    const value = readWord(reading, word, depth);
    if (value === undefined) literal = false;
    return value ?? word.text;
  };
  const programName = read(name);
  if (/^\w+(?:\[.*\])?\+?=/.test(name.text)) note(reading, "assignment in an unusual place");
  const args: string[] = [];
  for (const part of suffix) {
    if (part.type === "Word") args.push(read(part));
    else if (part.type === "Assignment") {
      note(reading, "assignment as an argument");
      literal = false;
      args.push(part.text);
      forEachChild(part, (child) => visit(reading, child, depth + 1));
    } else visit(reading, part, depth + 1);
  }
  addProgram(reading, { name: programName, args, literal });
}

function addProgram(reading: Reading, program: Pick<ProgramFacts, "name" | "args" | "literal">): void {
  const expanded = expandProgram(program);
  for (const reason of expanded.reasons) note(reading, reason);
  if (expanded.changesDirectory) reading.changesDirectory = true;
  for (const assignment of expanded.assignments) {
    const equals = assignment.indexOf("=");
    addAssignment(reading, assignment.slice(0, equals), assignment.slice(equals + 1));
  }
  for (const found of expanded.programs) {
    if (reading.programs.length === MAX_PROGRAMS) return note(reading, `more than ${MAX_PROGRAMS} programs`);
    if (found.args.length > MAX_ARGUMENTS) note(reading, `more than ${MAX_ARGUMENTS} arguments`);
    reading.programs.push({ ...found, args: found.args.slice(0, MAX_ARGUMENTS) });
  }
}

function addAssignment(reading: Reading, name: string, value: string): void {
  if (!HARMLESS_VARIABLES.has(name)) note(reading, "sets a variable that may change what programs do");
  if (reading.assignments.length === MAX_REDIRECTIONS) return note(reading, `more than ${MAX_REDIRECTIONS} variables`);
  reading.assignments.push({ name, value });
}

function visitRedirection(reading: Reading, redirection: Redirection, depth: number): void {
  const { descriptor } = redirection;
  if (descriptor?.type === "FileDescriptorVariable") note(reading, "redirection into a variable");
  // Some shells read a longer number as an argument.
  if (descriptor?.type === "FileDescriptor" && descriptor.value > 9) note(reading, "descriptor above 9");
  if (redirection.type === "HereDoc") {
    const { delimiter, body, closing } = redirection;
    if (closing === undefined) note(reading, "here-document without an end");
    if (!/^(?:'\w+'|"\w+"|\w+)$/.test(delimiter?.text ?? "")) note(reading, "unusual here-document delimiter");
    if (delimiter?.quoted !== true && /[$`\\]/.test(body.text)) note(reading, "expansion in a here-document");
    if (delimiter?.quoted !== true) for (const part of body.parts ?? []) visitParts(reading, part, depth + 1);
    return;
  }
  const { target } = redirection;
  if (target === undefined) return note(reading, "redirection to nothing");
  const path = readWord(reading, target, depth);
  if (redirection.type === "HereString") return;
  const { operator } = redirection;
  if (operator === ">&" || operator === "<&") {
    if (/^(?:\d|-)$/.test(target.text)) return;
    if (operator === "<&" || descriptor !== undefined || /^[\d-]/.test(target.text)) {
      return note(reading, "unusual descriptor");
    }
  }
  // To a POSIX shell `a &>b c` is two commands: `a &` and `>b c`.
  if (operator.startsWith("&")) note(reading, "&> is read in two ways");
  const mode = MODES.get(operator);
  if (mode === undefined) return note(reading, "unknown redirection");
  if (path !== undefined && /^\/dev\/+(?:tcp|udp)\b/.test(path)) note(reading, "network redirection");
  if (path === "") note(reading, "redirection to nothing");
  if (reading.redirections.length === MAX_REDIRECTIONS)
    return note(reading, `more than ${MAX_REDIRECTIONS} redirections`);
  reading.redirections.push({ path: path ?? target.text, mode });
}

/** The word's value, or undefined if it is not literal; also searches the word for programs. */
function readWord(reading: Reading, word: Word, depth: number, use: WordUse = "word"): string | undefined {
  const literal = literalWord(word.text, use);
  const parts = word.parts ?? [];
  if ("value" in literal && literal.value === word.value && parts.every((part) => isPlain(part, use))) {
    return literal.value;
  }
  note(reading, "reason" in literal ? literal.reason : "quoting that is read in two ways");
  for (const part of parts) visitParts(reading, part, depth + 1);
  return undefined;
}

function isPlain(part: SyntaxNode, use: WordUse): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every(({ type }) => type === "Literal");
  return part.type === "Literal" || part.type === "SingleQuoted" || (use === "pattern" && part.type === "Glob");
}

/** Searches the parts of a word for nested scripts. */
function visitParts(reading: Reading, node: SyntaxNode, depth: number): void {
  if (depth > MAX_COMMAND_DEPTH * 4) return note(reading, "nested too deeply");
  if (node.type === "Script") return visit(reading, node, depth);
  forEachChild(node, (child) => visitParts(reading, child, depth + 1));
}
