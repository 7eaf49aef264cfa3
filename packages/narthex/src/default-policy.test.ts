import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import {
  assemblePolicy,
  DEFAULT_CONFIGURATION,
  type ExpectedDecision,
  type PolicyExample,
  readExamples,
  readPolicyDirectory,
  runExamples,
  schemaForTools,
} from "@narthex/host";
import {
  type CallExplanation,
  type Capability,
  createExampleExplainer,
  type ExampleCall,
  type PolicyFile,
} from "@narthex/kernel";
import { builtinTools } from "@narthex/tools";

const DIRECTORY = fileURLToPath(new URL("../../../policies", import.meta.url));
const tools = builtinTools();
const schema = schemaForTools(tools);
/** With a model to ask. */
const askingTools = builtinTools({
  inference: [
    {
      name: "local",
      format: "openai",
      baseUrl: "http://127.0.0.1:11434/v1",
      models: [],
      defaultPrice: { inputPricePerMillion: 0, outputPricePerMillion: 0 },
    },
  ],
});
const EVERYWHERE: readonly Capability[] = [
  { kind: "net_read", hosts: [{ host: "*" }] },
  { kind: "net_write", hosts: [{ host: "*" }] },
  { kind: "inference", models: [{ provider: "*", model: "*" }] },
];

async function explainerOf(files: readonly PolicyFile[], known = tools) {
  const policy = await assemblePolicy(files, schemaForTools(known));
  return createExampleExplainer(policy, known, DEFAULT_CONFIGURATION.protectedPaths);
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

  async function holds(expected: ExpectedDecision): Promise<void> {
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

  test("allows what its examples allow", () => holds("allow"));
  test("asks a person where its examples ask", () => holds("ask"));
  test("denies what its examples deny", () => holds("deny"));

  test("is evaluated by the compiled engine", async () => {
    const { current } = await assemblePolicy(await readPolicyDirectory(DIRECTORY), schema);
    assert.ok(!("problem" in current));
    assert.deepEqual([current.engine, current.fallback], ["narthex-cedar/1", ""]);
  });

  test("asks at the console before a session with a secret and untrusted text sends anything out", async () => {
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

  test("asks a person about every host and port that a call names", async () => {
    const asksAbout = async (tool: string, input: JsonValue): Promise<unknown> => {
      const { answer, questions } = await explain({ tool, input, labels: [], capabilities: EVERYWHERE });
      return [answer, questions.map(({ host, approve }) => `${host} ${approve}`)];
    };
    const named = { command: "ls", network_access: true, hosts: ["a.test:8080", "b.test"] };
    assert.deepEqual(await asksAbout("shell_exec", named), ["ask", ["a.test human", "b.test human", "b.test human"]]);
    const url = "https://example.com/";
    assert.deepEqual(await asksAbout("web_fetch", { url }), ["ask", ["example.com human"]]);
    assert.deepEqual(await asksAbout("http_fetch", { url, method: "DELETE" }), ["ask", ["example.com human"]]);
  });

  test("asks a person before a model request, and denies models that the lease does not name", async () => {
    const explainAsking = await explainerOf(await readPolicyDirectory(DIRECTORY), askingTools);
    const answerTo = async (model: string, labels: readonly string[]): Promise<unknown> => {
      const input = { provider: "local", model, prompt_hash: "a".repeat(64), max_tokens: 1, temperature_scaled: 0 };
      const models = [{ provider: "local", model: "small" }];
      const explained = await explainAsking({
        tool: "inference",
        input,
        labels,
        capabilities: [{ kind: "inference", models }],
      });
      return [explained.answer, explained.code, matchedIn(explained), explained.questions[0]?.approve];
    };
    assert.deepEqual(await answerTo("small", []), ["ask", "", ["ask-network"], "human"]);
    assert.deepEqual(await answerTo("small", ["secret", "untrusted"]), ["ask", "", ["ask-to-send-out"], "console"]);
    assert.deepEqual(await answerTo("large", []), ["deny", "CAPABILITY_MISSING", ["ask-network"], "human"]);
  });

  test("permits no git operation with network access by the rule for local work", async () => {
    for (const operation of ["CLONE", "FETCH", "PULL"]) {
      const rulesFor = async (input: JsonObject): Promise<unknown> => {
        const call = { tool: "git", input: { operation, ...input }, labels: [] };
        return [...new Set(matchedIn(await explain(call)))];
      };
      assert.deepEqual(await rulesFor({ args: ["./a.git"] }), ["git-work"]);
      assert.deepEqual(await rulesFor({ args: ["https://example.com/a.git"] }), ["ask-network"]);
      assert.deepEqual(await rulesFor({ args: ["git@example.com:a.git"] }), ["ask-network"]);
    }
    const named = { tool: "git", input: { operation: "PULL", hosts: ["example.com"] }, labels: [] };
    assert.deepEqual(new Set(matchedIn(await explain(named))), new Set(["ask-network"]));
  });
});

describe("facts that rules can read", () => {
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
    "host, port and method": [
      "http_fetch",
      { url: "https://A.test:8443/x?y", method: "POST" },
      'context has host && context.host == "a.test" && context has port && context.port == 8443 && context has sends && ' +
        'context.sends && context.input has method && context.input.method == "POST" && context.url.path == "/x"',
    ],
    "provider and model": [
      "inference",
      { provider: "local", model: "small", prompt_hash: "a".repeat(64), max_tokens: 1, temperature_scaled: 0 },
      'context.input.provider == "local" && context.input.model == "small"',
    ],
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
          const explain = await explainerOf([{ name: "r.cedar", text: rule }], askingTools);
          return (await explain({ tool, input: input as never, labels: [], capabilities: EVERYWHERE })).answer;
        }),
      );
      assert.deepEqual(answers, ["allow", "deny"]);
    });
  }
});
