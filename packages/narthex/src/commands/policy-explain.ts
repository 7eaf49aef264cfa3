import { isKernelError, JsonSyntaxError, type JsonValue, parseJson } from "@narthex/contracts";
import type { CallExplanation, ExplainedCheck, ExplainRequest, RuleFinding } from "@narthex/kernel";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { withConnection } from "../connection/open-connection.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import { wrapWords } from "../terminal/wrap-words.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visible } from "../terminal/visible.ts";
import { adviseName } from "./call-advice.ts";
import { readCallInput } from "./call-input.ts";
import type { Command, Invocation } from "./command.ts";
import { parseToolName } from "./tool-name.ts";

export const policyExplainCommand: Command = {
  details:
    "Says what would become of the call and why: what the lease lacks, which rules permit and forbid it, and of rules that " +
    "almost fit which condition does not hold. Nothing runs and nothing is recorded.",
  arguments: [
    { name: "<tool>", description: "the tool, or NAME@VERSION" },
    { name: "[json]", description: "its input; @FILE or - for standard input (default: {})" },
  ],
  options: [
    { flags: "--session <id>", description: "by whose lease, labels and budget (default: those of a new session)" },
  ],
  examples: [
    `narthex policy explain shell_exec '{"command":"npm test"}'`,
    `narthex policy explain file_write '{"path":".git/config","content":""}' --session ses_abcdefghij234567abcd`,
  ],

  async run(invocation) {
    const { options, terminal } = invocation;
    const { name, version } = parseToolName(invocation.arguments[0] ?? "");
    const sessionId = options.text("session");
    const question = {
      tool: name,
      input: await readInput(invocation),
      ...(version === "" ? {} : { version }),
      ...(sessionId === undefined ? {} : { sessionId }),
    };
    const explanation = await withConnection(invocation, "policy explain", (kernel) => explain(kernel, question));
    if (terminal.json) terminal.printJson(toJson(explanation));
    else printExplanation(explanation, terminal);
    return EXIT_OK;
  },
};

async function explain(kernel: KernelConnection, question: ExplainRequest): Promise<CallExplanation> {
  try {
    return await kernel.explainCall(question);
  } catch (error) {
    if (!isKernelError(error) || error.code !== "TOOL_NOT_FOUND") throw error;
    const next = await adviseName(question.tool, await kernel.listTools({ token: undefined, allVersions: false }));
    throw new CommandError(error.code, error.message, { cause: error, next });
  }
}

async function readInput(invocation: Invocation): Promise<JsonValue> {
  try {
    return parseJson(await readCallInput(invocation.arguments[1], invocation));
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause;
    throw new CommandError("INVALID_INPUT", `the input is not JSON: ${cause.message}`, {
      cause,
      next: 'write the input as one JSON object in single quotes, such as \'{"path":"notes.txt"}\'',
    });
  }
}

const DECISION_TEXTS = { allow: "allowed", ask: "allowed once a person says yes", deny: "denied" } as const;

/**
 * Prints the decision and the rules that determined it, then the rules that did not match, for a user who wants a
 * different decision.
 */
function printExplanation({ answer, code, message, missing, questions }: CallExplanation, terminal: Terminal): void {
  const { paint, columns } = terminal;
  const colour = { allow: paint.green, ask: paint.yellow, deny: paint.red }[answer];
  const said = `${DECISION_TEXTS[answer]}${visible(message === "" ? "" : `: ${message}`)}${code && ` (${code})`}`;
  const [first = "", ...rest] = wrapWords(said, { width: columns ?? Number.POSITIVE_INFINITY, longWords: "keep" });
  terminal.print(first.replace(DECISION_TEXTS[answer], colour), ...rest);
  for (const right of missing) {
    if (right.message !== message) terminal.print(visible(`  missing: ${right.message} (${right.code})`));
  }
  for (const question of questions) {
    terminal.print("", paint.bold(visible(describe(question))));
    const matched = question.rules.filter(({ verdict }) => verdict !== "almost");
    const others = question.rules.filter(({ verdict }) => verdict === "almost");
    terminal.print(...matched.flatMap(describeRule));
    if (matched.length === 0) terminal.print("  no rule permits it");
    if (others.length === 0) continue;
    terminal.print("  rules that do not match, and why:");
    const width = columns === undefined ? undefined : columns - INDENT;
    const facts = others.map(({ id, effect, unmet, because, file, line }) => {
      const why = (unmet ?? because).map((text) => text.replaceAll(/\s+/g, " ")).join("; ");
      return [effect === "forbid" ? `${id} (forbids)` : id, `${why} (${file}:${line})`] as const;
    });
    terminal.print(...renderFacts(facts, width).map((line) => `${" ".repeat(INDENT)}${line}`));
  }
}

const INDENT = 4;

function describe({ action, path, host, allowed, approve }: ExplainedCheck): string {
  const about = [path && `path ${path}`, host && `host ${host}`].filter((part) => part !== "").join(", ");
  const answer = !allowed ? "no" : approve === "none" ? "yes" : `yes, if a person agrees (${approve})`;
  return `${action}${about && ` on ${about}`}: ${answer}`;
}

const VERDICTS = {
  permit: { matched: "permits", error: "cannot be evaluated, so it denies" },
  forbid: { matched: "forbids", error: "cannot be evaluated, so it denies" },
} as const;

function describeRule({ id, effect, verdict, because, file, line }: RuleFinding): string[] {
  const said = VERDICTS[effect][verdict === "error" ? "error" : "matched"];
  return [visible(`  ${id} ${said} (${file}:${line})`), ...because.map((text) => visible(`    ${text}`))];
}

function toJson({ answer, code, message, missing, questions }: CallExplanation) {
  return {
    answer,
    code,
    message,
    missing: missing.map((right) => ({ ...right })),
    questions: questions.map(({ rules, always, ...question }) => ({
      ...question,
      always: [...always],
      rules: rules.map(({ because, unmet = [], ...rule }) => ({ ...rule, because: [...because], unmet: [...unmet] })),
    })),
  };
}
