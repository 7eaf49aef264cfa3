import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { JsonValue } from "@narthex/contracts";
import {
  assemblePolicy,
  DEFAULT_CONFIGURATION,
  type ExpectedAnswer,
  type PolicyExample,
  readExamples,
  readPolicyDirectory,
  runExamples,
  schemaForTools,
} from "@narthex/host";
import { type CallExplanation, createExampleExplainer, type ExampleCall } from "@narthex/kernel";
import { builtinTools } from "@narthex/tools";

const DIRECTORY = fileURLToPath(new URL("../../../policies", import.meta.url));
const tools = builtinTools();
const schema = schemaForTools(tools);

async function explainerOf(files: readonly { readonly name: string; readonly text: string }[]) {
  const policy = await assemblePolicy(files, schema);
  return createExampleExplainer(policy, tools, DEFAULT_CONFIGURATION.protectedPaths);
}

const matchedIn = ({ questions }: CallExplanation): string[] =>
  questions.flatMap(({ rules }) => rules.filter(({ verdict }) => verdict === "matched").map(({ id }) => id));

describe("the default policy", () => {
  let explain: (example: ExampleCall) => Promise<CallExplanation>;
  let examples: readonly PolicyExample[];

  before(async () => {
    explain = await explainerOf(await readPolicyDirectory(DIRECTORY));
    examples = await readExamples(DIRECTORY);
  });

  async function holds(expected: ExpectedAnswer): Promise<void> {
    const chosen = examples.filter((example) => example.expected === expected);
    assert.ok(chosen.length > 5);
    const failures = await runExamples(chosen, async (example) => {
      const explained = await explain(example);
      return { answer: explained.answer, code: explained.code, rules: matchedIn(explained) };
    });
    assert.deepEqual(
      failures.map(({ example, problem }) => `${example.tool} ${JSON.stringify(example.input)} ${problem}`),
      [],
    );
  }

  test("allows what its examples say it allows", () => holds("allow"));
  test("asks a person where its examples say it asks", () => holds("ask"));
  test("denies what its examples say it denies", () => holds("deny"));

  test("is evaluated by the compiled engine", async () => {
    const { current } = await assemblePolicy(await readPolicyDirectory(DIRECTORY), schema);
    assert.ok(!("problem" in current));
    assert.deepEqual([current.engine, current.fallback], ["narthex-cedar/1", ""]);
  });

  test("asks at the console before a session that saw a secret and strangers' text sends anything out", async () => {
    const input = { operation: "PUSH", args: ["origin", "main"] };
    const doorFor = async (labels: readonly string[]) =>
      (await explain({ tool: "git", input, labels })).questions.map(({ approve }) => approve);
    assert.deepEqual(await doorFor([]), ["human"]);
    assert.deepEqual(await doorFor(["secret"]), ["human"]);
    assert.deepEqual(await doorFor(["secret", "untrusted"]), ["console"]);
    const command = { command: "npm test", network_access: true };
    for (const [labels, door] of [
      [["secret"], "human"],
      [["secret", "untrusted"], "console"],
    ] as const) {
      const { questions } = await explain({ tool: "shell_exec", input: command, labels });
      assert.deepEqual(new Set(questions.map(({ approve }) => approve)), new Set([door]));
    }
  });

  test("lets no git operation reach a network by the rule for work that stays here", async () => {
    const reaching = tools.map((tool) => {
      const { narrow } = tool;
      if (tool.name !== "git" || narrow === undefined) return tool;
      const effects = [...tool.effects, "net_read"] as const;
      const capabilities = [...tool.capabilities, { kind: "net_read", hosts: [] } as const];
      return { ...tool, effects, capabilities, narrow: (input: JsonValue) => ({ ...narrow(input), effects }) };
    });
    const policy = await assemblePolicy(await readPolicyDirectory(DIRECTORY), schemaForTools(reaching));
    const explainReaching = createExampleExplainer(policy, reaching, DEFAULT_CONFIGURATION.protectedPaths);
    for (const operation of ["CLONE", "FETCH", "PULL"]) {
      const call = { tool: "git", input: { operation, args: ["https://example.com/a.git"] }, labels: [] };
      assert.deepEqual(new Set(matchedIn(await explain(call))), new Set(["git-work"]));
      assert.deepEqual(new Set(matchedIn(await explainReaching(call))), new Set(["ask-network"]));
    }
  });
});

describe("rules can read", () => {
  const FACTS: Readonly<Record<string, readonly [tool: string, input: object, condition: string]>> = {
    "the canonical path": ["file_list", { path: "./src//a" }, 'context.path == "src/a" && !context.writes'],
    "the programs of a command": [
      "shell_exec",
      { command: "git log | head -5" },
      'context.programs == ["git", "head"] && context.command.names == ["head", "git"]',
    ],
    "whether a command is fully literal": ["shell_exec", { command: "ls $HOME" }, "!context.command.literal"],
    "a command's exact words": ["shell_exec", { command: "rm 'a b' c" }, "context.command.lines == [\"rm 'a b' c\"]"],
    "the git operation": ["git", { operation: "PUSH", args: [] }, 'context.input.operation == "PUSH"'],
    "effects, tier and definition": [
      "file_write",
      { path: "a", content: "x" },
      'context.effects == ["fs_write"] && context.tier == "side_effecting" && context.definition_hash like "*"',
    ],
    "calls so far and what is left of a budget": ["echo", {}, "context.calls == 0 && !(context.budget has calls)"],
    "the session's clock": ["echo", {}, "context.time_ms > 0"],
    "who asks, and where": [
      "echo",
      {},
      'principal == Agent::"agent" && principal in User::"user" && principal in Tenant::"default" && resource.path == "/workspace"',
    ],
    "the input": [
      "file_search",
      { pattern: "x+", glob: "*.ts" },
      'context.input.pattern == "x+" && context.input has glob && context.input.glob == "*.ts"',
    ],
  };
  for (const [name, [tool, input, condition]] of Object.entries(FACTS)) {
    test(name, async () => {
      const answers = await Promise.all(
        [condition, `!(${condition})`].map(async (text) => {
          const rule = `@id("r") @approve("none") permit(principal, action in Action::"${tool}", resource) when { ${text} };`;
          const explain = await explainerOf([{ name: "r.cedar", text: rule }]);
          return (await explain({ tool, input: input as never, labels: [] })).answer;
        }),
      );
      assert.deepEqual(answers, ["allow", "deny"]);
    });
  }
});
