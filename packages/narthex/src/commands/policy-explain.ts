import { isKernelError, JsonSyntaxError, type JsonValue, parseJson } from "@narthex/contracts";
import type { CallExplanation, ExplainedQuestion, ExplainQuestion, RuleFinding } from "@narthex/kernel";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { withConnection } from "../connection/open-connection.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
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

async function explain(kernel: KernelConnection, question: ExplainQuestion): Promise<CallExplanation> {
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

const ANSWERS = { allow: "allowed", ask: "allowed once a person says yes", deny: "denied" } as const;

function printExplanation({ answer, code, message, missing, questions }: CallExplanation, terminal: Terminal): void {
  const { paint } = terminal;
  const colour = { allow: paint.green, ask: paint.yellow, deny: paint.red }[answer];
  terminal.print(`${colour(ANSWERS[answer])}${visible(message === "" ? "" : `: ${message}`)}${code && ` (${code})`}`);
  for (const right of missing) terminal.print(visible(`  missing: ${right.message} (${right.code})`));
  for (const question of questions) {
    terminal.print("", paint.bold(visible(describe(question))));
    const lines = question.rules.flatMap(describeRule);
    terminal.print(...(lines.length === 0 ? ["  no rule is about this action"] : lines));
  }
}

function describe({ action, path, host, allowed, approve }: ExplainedQuestion): string {
  const about = [path && `path ${path}`, host && `host ${host}`].filter((part) => part !== "").join(", ");
  const answer = !allowed ? "no" : approve === "none" ? "yes" : `yes, if a person agrees (${approve})`;
  return `${action}${about && ` on ${about}`}: ${answer}`;
}

const VERDICTS = {
  permit: { matched: "permits", almost: "would permit", error: "cannot be evaluated, so it denies" },
  forbid: { matched: "forbids", almost: "would forbid", error: "cannot be evaluated, so it denies" },
} as const;

function describeRule({ id, effect, verdict, because, file, line }: RuleFinding): string[] {
  const conditions = because.map((text) => visible(verdict === "error" ? `    ${text}` : `    but not: ${text}`));
  return [visible(`  ${id} ${VERDICTS[effect][verdict]} (${file}:${line})`), ...conditions];
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
      rules: rules.map(({ because, ...rule }) => ({ ...rule, because: [...because] })),
    })),
  };
}
