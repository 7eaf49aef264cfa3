import type { JsonObject } from "@narthex/contracts";
import type { McpCaller } from "./mcp-caller.ts";

type Decision = "allow" | "ask" | "deny" | "unknown";

interface Sample {
  /** Name of the sample in the description. */
  readonly label: string;
  readonly input: JsonObject;
}

/** Commands that policies usually list, by their name in a description. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ["ls", "ls"],
  ["cat", "cat a"],
  ["grep", "grep a b"],
  ["git status", "git status"],
  ["git commit", "git commit -m a"],
  ["npm test", "npm test"],
  ["npm run build", "npm run build"],
  ["node --test", "node --test"],
  ["pytest", "pytest"],
  ["cargo test", "cargo test"],
  ["go test", "go test"],
  ["make test", "make test"],
]);
/** Shell forms that hide from a policy which programs run, each with a command that it usually lists. */
const SHELL_FORMS: ReadonlyMap<string, string> = new Map([
  ["redirection", "ls > a"],
  ["substitution", "ls $(cat a)"],
  ["variables", "A=1 ls"],
]);
/** Not the name of any program, so no rule lists it. */
const OTHER_COMMAND = "narthex-other-command";
/** Sample calls by their name in a description. */
const GIT_SAMPLES: ReadonlyMap<string, JsonObject> = new Map([
  ["STATUS", { operation: "STATUS" }],
  ["DIFF", { operation: "DIFF" }],
  ["ADD", { operation: "ADD" }],
  ["COMMIT", { operation: "COMMIT" }],
  ["CHECKOUT -b NAME", { operation: "CHECKOUT", args: ["-b", "narthex-sample"] }],
  ["CHECKOUT NAME --", { operation: "CHECKOUT", args: ["narthex-sample", "--"] }],
  ["CHECKOUT NAME", { operation: "CHECKOUT", args: ["narthex-sample"] }],
  ["RESET --hard", { operation: "RESET", args: ["--hard"] }],
  ["STASH", { operation: "STASH" }],
  ["PULL", { operation: "PULL" }],
  ["PUSH", { operation: "PUSH" }],
]);
/** One sample call for each tool whose calls are usually all decided alike. */
const PLAIN_SAMPLES: ReadonlyMap<string, Sample> = new Map([
  ["file_write", { label: "", input: { path: "narthex-sample", content: "" } }],
  ["file_edit", { label: "", input: { path: "narthex-sample", old_content: "a", new_content: "b" } }],
  ["file_move", { label: "", input: { source: "narthex-sample", destination: "narthex-sample-2" } }],
  ["file_delete", { label: "", input: { path: "narthex-sample" } }],
  ["db_query", { label: "To write", input: { database: "narthex-sample", sql: "DELETE FROM a" } }],
  ["shell_spawn", { label: "", input: { command: "ls" } }],
]);

/**
 * Describes in one sentence which calls of a tool need an approval, for the tool's description; empty if nothing can be
 * said.
 *
 * INVARIANT: the sentence is true of the policy in force, because it is derived from the policy's decisions about
 * exactly the sample calls that it names. Nothing is run or recorded for it.
 */
export async function describeApprovalNeeds(tool: string, explain: McpCaller["explain"]): Promise<string> {
  const decide = async (input: JsonObject): Promise<Decision> => {
    try {
      const { answer, code } = await explain(tool, input);
      // An input that the tool itself rejects says nothing about the policy.
      return answer === "deny" && code.startsWith("INVALID") ? "unknown" : answer;
    } catch {
      return "unknown";
    }
  };
  if (tool === "shell_exec") return describeCommands(decide);
  if (tool === "git") return describeGit(decide);
  const sample = PLAIN_SAMPLES.get(tool);
  if (sample === undefined || (await decide(sample.input)) !== "ask") return "";
  return sample.label === "" ? "Waits for a person's approval." : `${sample.label} waits for a person's approval.`;
}

async function describeCommands(decide: (input: JsonObject) => Promise<Decision>): Promise<string> {
  const other = await decide({ command: OTHER_COMMAND });
  if (other !== "ask" && other !== "deny") return "";
  const namesOf = async (samples: ReadonlyMap<string, string>, wanted: Decision): Promise<string[]> => {
    const answers = await Promise.all([...samples.values()].map((command) => decide({ command })));
    return [...samples.keys()].filter((_, at) => answers[at] === wanted);
  };
  const free = await namesOf(COMMANDS, "allow");
  const outcome = other === "ask" ? "waits for a person's approval" : "is denied";
  if (free.length === 0) return `A command ${outcome}.`;
  const forms = await namesOf(SHELL_FORMS, other);
  const shape = forms.length === 0 ? "" : `, or that has ${forms.join(" or ")},`;
  return `Run at once, for example: ${free.join(", ")}. A command that policy does not list${shape} ${outcome}.`;
}

async function describeGit(decide: (input: JsonObject) => Promise<Decision>): Promise<string> {
  const answers = await Promise.all([...GIT_SAMPLES.values()].map(decide));
  const namesOf = (wanted: Decision): string =>
    [...GIT_SAMPLES.keys()].filter((_, at) => answers[at] === wanted).join(", ");
  const [asked, denied] = [namesOf("ask"), namesOf("deny")];
  return [
    ...(asked === "" ? [] : [`Waits for a person's approval: ${asked}.`]),
    ...(denied === "" ? [] : [`Denied: ${denied}.`]),
  ].join(" ");
}
