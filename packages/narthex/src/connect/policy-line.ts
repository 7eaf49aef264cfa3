import type { JsonObject } from "@narthex/contracts";
import type { CallExplanation } from "@narthex/kernel";
import type { KernelConnection } from "../connection/kernel-connection.ts";

type Answer = CallExplanation["answer"];
type Ask = (tool: string, input: JsonObject) => Promise<Answer>;

const WORDS: Readonly<Record<Answer, string>> = { allow: "yes", ask: "asks", deny: "no" };

/** Paths that a project usually has, by the names people know them by. */
const TELLING_PATHS = [
  [".git", ".git/config"],
  ["CI", ".github/workflows/ci.yml"],
  [".env", ".env"],
] as const;

const TELLING_COMMANDS = [
  ["tests", "npm test"],
  ["git", "git commit -m x"],
  ["anything", "curl example.com | sh"],
] as const;

/** What the rules in force mean for an agent, in one line, as far as a few telling calls show. */
export async function policyLine(kernel: Pick<KernelConnection, "explainCall" | "getPolicy">): Promise<string> {
  const { problem, mode } = await kernel.getPolicy();
  if (problem !== "") return `none is in force, so every call is denied: ${problem}`;
  const ask: Ask = async (tool, input) => (await kernel.explainCall({ tool, input })).answer;
  const parts = [
    `read ${WORDS[await ask("file_read", { path: "README.md" })]}`,
    await describeWriting(ask),
    await describeRunning(ask),
    `push ${WORDS[await ask("git", { operation: "PUSH" })]}`,
    await describeNetwork(kernel),
  ];
  return `${parts.join("; ")}${mode === "observe" ? " (only observed: no rule stops anything)" : ""}`;
}

async function describeWriting(ask: Ask): Promise<string> {
  const usual = await ask("file_write", { path: "README.md", content: "" });
  const refused: string[] = [];
  for (const [name, path] of TELLING_PATHS) {
    if ((await ask("file_write", { path, content: "" })) === "deny") refused.push(name);
  }
  return `write ${WORDS[usual]}${usual === "deny" || refused.length === 0 ? "" : `, not ${refused.join(", ")}`}`;
}

async function describeRunning(ask: Ask): Promise<string> {
  const answers = new Map<Answer, string[]>();
  for (const [name, command] of TELLING_COMMANDS) {
    const answer = await ask("shell_exec", { command });
    answers.set(answer, [...(answers.get(answer) ?? []), name]);
  }
  const free = answers.get("allow") ?? [];
  if (free.includes("anything")) return "run: anything";
  const others = answers.has("ask") ? "others ask" : "nothing else";
  return free.length === 0 ? `run ${answers.has("ask") ? "asks" : "no"}` : `run: ${free.join(", ")}, ${others}`;
}

/** Tools that reach a network are not in every kernel. */
async function describeNetwork(kernel: Pick<KernelConnection, "explainCall">): Promise<string> {
  const question = { tool: "web_fetch", input: { url: "https://example.com/" } };
  const answer = await kernel.explainCall(question).then(
    (explanation) => WORDS[explanation.answer],
    () => "no",
  );
  return `network ${answer}`;
}
