import { resolve } from "node:path";
import {
  assemblePolicy,
  type ExampleDecision,
  type ExampleFailure,
  homePaths,
  readExamples,
  readPolicyDirectory,
  runExamples,
} from "@narthex/host";
import { type CallExplanation, createExampleExplainer } from "@narthex/kernel";
import { EXIT_OK, EXIT_TOOL_ERROR } from "../terminal/exit-code.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { cutText } from "../terminal/visible.ts";
import type { Command } from "./command.ts";
import { readPolicyTools } from "./policy-tools.ts";

const COLUMNS: readonly Column<ExampleFailure>[] = [
  { title: "EXAMPLE", value: ({ example }) => `${example.file}:${example.line}` },
  { title: "CALL", value: ({ example }) => cutText(`${example.tool} ${JSON.stringify(example.input)}`, 60) },
  { title: "PROBLEM", value: ({ problem }) => problem },
];

export const policyTestCommand: Command = {
  details:
    "Asks the rules of DIR about the calls in its *.examples.yaml files, without a kernel and without running anything. A " +
    'file has the tables allow, ask and deny; an entry is a text, `file_read {"path": "a.txt"}`, or has the keys tool, ' +
    "input, labels, hosts (which the lease gives the session), rule (which must decide) and code (which a denial must " +
    "have). Exit code 1 means that some example is answered otherwise.",
  arguments: [{ name: "[dir]", description: "a policy directory (default: that of the kernel's home)" }],
  examples: ["narthex policy test", "narthex policy test ./policies --json"],

  async run({ arguments: [given], home, terminal }) {
    const directory = given === undefined ? homePaths(home).policy : resolve(given);
    const { tools, schema, protectedPaths } = await readPolicyTools(home);
    const examples = await readExamples(directory);
    const policy = await assemblePolicy(await readPolicyDirectory(directory), schema);
    const explain = createExampleExplainer(policy, tools, protectedPaths);
    const failures = await runExamples(examples, async (example) => toExampleDecision(await explain(example)));
    if (terminal.json) terminal.printJson({ examples: examples.length, failures: failures.map(failureToJson) });
    else if (examples.length === 0) terminal.print(`no *.examples.yaml in ${directory}: nothing was tried`);
    else if (failures.length > 0) {
      terminal.print(...renderTable(COLUMNS, failures));
      terminal.note(`${failures.length} of ${examples.length} examples are answered otherwise`);
    } else terminal.print(`${examples.length} examples are answered as they say`);
    return failures.length === 0 ? EXIT_OK : EXIT_TOOL_ERROR;
  },
};

/** Keeps the rules that decided: forbidding rules for a denial, permitting rules otherwise. */
function toExampleDecision({ answer, code, questions }: CallExplanation): ExampleDecision {
  const effect = answer === "deny" ? "forbid" : "permit";
  const rules = questions.flatMap((question) =>
    question.rules.filter((rule) => rule.verdict === "matched" && rule.effect === effect).map(({ id }) => id),
  );
  return { answer, code, rules: [...new Set(rules)].sort() };
}

function failureToJson({ example, answer, problem }: ExampleFailure) {
  const { file, line, tool, input, labels, expected } = example;
  return {
    place: `${file}:${line}`,
    tool,
    input,
    labels: [...labels],
    expected,
    answer: answer.answer,
    code: answer.code,
    rules: [...answer.rules],
    problem,
  };
}
