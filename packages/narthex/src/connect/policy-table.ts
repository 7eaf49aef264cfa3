import type { JsonObject } from "@narthex/contracts";
import type { CallExplanation } from "@narthex/kernel";
import type { KernelConnection } from "../connection/kernel-connection.ts";

type Decision = CallExplanation["answer"];

/** Groups of sample calls by the decision that the policy in force makes about them. */
export interface PolicyTable {
  readonly allowed: readonly string[];
  readonly needApproval: readonly string[];
  readonly denied: readonly string[];
  /** Further notes for the user. */
  readonly notes: readonly string[];
}

interface SampleCall {
  /** What people call the group. */
  readonly name: string;
  readonly tool: string;
  readonly input: JsonObject;
}

const command = (name: string, text: string): SampleCall => ({ name, tool: "shell_exec", input: { command: text } });
const writing = (name: string, path: string): SampleCall => ({
  name,
  tool: "file_write",
  input: { path, content: "" },
});

const SAMPLE_CALLS: readonly SampleCall[] = [
  { name: "read", tool: "file_read", input: { path: "README.md" } },
  writing("edit", "README.md"),
  command("tests", "npm test"),
  command("builds", "npm run build"),
  command("linters", "eslint ."),
  { name: "git add, commit, branch", tool: "git", input: { operation: "COMMIT", args: ["-m", "x"] } },
  command("commands that only look", "grep -rn x ."),
  command("other commands", "curl example.com | sh"),
  { name: "background jobs", tool: "shell_spawn", input: { command: "npm start" } },
  { name: "git reset --hard", tool: "git", input: { operation: "RESET", args: ["--hard"] } },
  { name: "git push", tool: "git", input: { operation: "PUSH" } },
  writing("writes to .git", ".git/config"),
  writing("to CI", ".github/workflows/ci.yml"),
  writing("to .env", ".env"),
  writing("to configuration of agents and editors", ".claude/settings.json"),
  { name: "the network", tool: "web_fetch", input: { url: "https://example.com/" } },
];

export async function createPolicyTable(
  kernel: Pick<KernelConnection, "explainCall" | "getPolicy">,
): Promise<PolicyTable> {
  const { problem, mode } = await kernel.getPolicy();
  if (problem !== "") {
    return { allowed: [], needApproval: [], denied: ["every call"], notes: [`no policy is in force: ${problem}`] };
  }
  const answers = new Map<Decision, string[]>();
  for (const { name, tool, input } of SAMPLE_CALLS) {
    // A tool that the kernel does not have can reach nothing, so it counts as denied.
    const answer = await kernel.explainCall({ tool, input }).then(
      (explanation) => explanation.answer,
      () => "deny" as const,
    );
    answers.set(answer, [...(answers.get(answer) ?? []), name]);
  }
  const env = await kernel.explainCall({ tool: "file_read", input: { path: ".env" } });
  return {
    allowed: answers.get("allow") ?? [],
    needApproval: answers.get("ask") ?? [],
    denied: answers.get("deny") ?? [],
    notes: [
      ...(env.answer === "allow" ? [".env can be read without a question, and the model's provider sees it"] : []),
      ...(mode === "observe" ? ["the policy only observes: no rule stops anything"] : []),
    ],
  };
}
