import assert from "node:assert/strict";
import { test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, type JsonObject, type ToolInfo, ToolInfoSchema } from "@narthex/contracts";
import { createToolList } from "./tool-list.ts";

function info(name: string, fields: Exclude<MessageInitShape<typeof ToolInfoSchema>, ToolInfo> = {}): ToolInfo {
  return create(ToolInfoSchema, {
    name,
    inputSchema: `{"type":"object"}`,
    definitionHash: Buffer.from(name.padEnd(32)),
    state: "ready",
    safetyTier: "side_effecting",
    determinism: "nondeterministic",
    ...fields,
  });
}

/** What policy answers to each sample call; by default nothing is known. */
type Decide = (tool: string, input: JsonObject) => "allow" | "ask" | "deny" | undefined;

function createList(infos: () => readonly ToolInfo[], decide: Decide = () => undefined, set?: "coding" | "all") {
  return createToolList(
    {
      listTools: async () => infos(),
      async explain(tool, input) {
        const answer = decide(tool, input);
        if (answer === undefined) throw new Error("not in this test");
        return { answer, code: "", message: "", missing: [], questions: [] };
      },
    },
    set,
  );
}

test("omits tools that could not run or that MCP cannot call", async () => {
  const infos = [
    info("ready"),
    info("degraded", { state: "degraded" }),
    info("disabled", { state: "disabled" }),
    info("quarantined", { state: "quarantined" }),
    info("array", { inputSchema: `{"type":"array"}` }),
  ];
  const tools = await createList(() => infos).refresh();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["ready", "degraded"],
  );
});

test("reads a definition once, and again when it changed", async () => {
  let infos = [info("a"), info("b")];
  const list = createList(() => infos);
  const [a] = await list.refresh();
  infos = [info("a"), info("b", { definitionHash: Buffer.alloc(32, 1), description: "another" })];
  const [sameA, otherB] = await list.refresh();
  assert.equal(sameA, a);
  assert.equal(otherB?.description, "another");
});

test("derives hints from tier and effects, and omits those that a client assumes by default", async () => {
  const infos = [
    info("reads", { safetyTier: "read_only", effects: ["fs_read"] }),
    info("writes", { effects: ["fs_write"] }),
    info("publishes", { effects: ["artifact"] }),
    info("fetches", { effects: ["net_read"] }),
    info("pushes", { safetyTier: "privileged", effects: ["net_write"] }),
  ];
  const tools = await createList(() => infos).refresh();
  assert.deepEqual(
    tools.map(({ annotations }) => annotations ?? {}),
    [
      { readOnlyHint: true, openWorldHint: false },
      { openWorldHint: false },
      { destructiveHint: false, openWorldHint: false },
      { destructiveHint: false },
      {},
    ],
  );
});

test("lists built-in tools that do not help a coding agent only if all are requested", async () => {
  const infos = [info("echo", { source: "builtin" }), info("file_read", { source: "builtin" }), info("hash")];
  const named = async (set?: "coding" | "all") =>
    (await createList(() => infos, undefined, set).refresh()).map(({ name }) => name);
  assert.deepEqual(await named(), ["file_read", "hash"]);
  assert.deepEqual(await named("all"), ["echo", "file_read", "hash"]);
});

test("lists a built-in tool without output schema and without limits that no model needs", async () => {
  const inputSchema = JSON.stringify({
    type: "object",
    properties: {
      maxLength: { type: "string", minLength: 1, maxLength: 4096 },
      limit: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      depth: { type: "integer", minimum: 1, maximum: 64 },
    },
    additionalProperties: false,
  });
  const fields = { inputSchema, resultType: "object", outputSchema: `{"type":"object"}` };
  const [own, foreign] = await createList(() => [
    info("own", { ...fields, source: "builtin" }),
    info("foreign", { ...fields, source: "mcp" }),
  ]).refresh();
  assert.deepEqual(own?.inputSchema, {
    type: "object",
    properties: {
      maxLength: { type: "string" },
      limit: { type: "integer" },
      depth: { type: "integer", minimum: 1, maximum: 64 },
    },
    additionalProperties: false,
  });
  assert.equal(own?.outputSchema, undefined);
  assert.deepEqual([foreign?.inputSchema, foreign?.outputSchema], [JSON.parse(inputSchema), { type: "object" }]);
});

test("descriptions name the calls that need approval under the policy, and change with it", async () => {
  const infos = ["shell_exec", "git", "file_write", "file_read"].map((name) => info(name, { source: "builtin" }));
  let decide: Decide = () => "allow";
  const list = createList(
    () => infos,
    (tool, input) => decide(tool, input),
  );
  const told = async () => (await list.refresh()).map(({ description }) => description?.trim());
  assert.deepEqual(await told(), ["", "", "", ""]);
  decide = (tool, input) => {
    if (tool === "git") return input["operation"] === "PUSH" ? "ask" : "allow";
    return input["command"] === "ls" ? "allow" : "ask";
  };
  assert.equal(await list.hasChanged(), true);
  assert.deepEqual(await told(), [
    "Run at once, for example: ls. A command that policy does not list, or that has redirection or substitution or " +
      "variables, waits for a person's approval.",
    "Waits for a person's approval: PUSH.",
    "Waits for a person's approval.",
    "",
  ]);
  decide = () => "deny";
  assert.deepEqual((await told()).slice(0, 2), [
    "A command is denied.",
    "Denied: STATUS, DIFF, ADD, COMMIT, CHECKOUT -b NAME, CHECKOUT NAME --, CHECKOUT NAME, RESET --hard, STASH, PULL, PUSH.",
  ]);
});

test("declares structured output only for object results with a schema", async () => {
  const infos = [
    info("promises", { resultType: "object", outputSchema: `{"type":"object"}` }),
    info("silent", { resultType: "object" }),
    info("lists", { resultType: "array", outputSchema: `{"type":"array"}` }),
  ];
  const list = createList(() => infos);
  // Asked for at first, known from then on.
  const asked = infos.map(async ({ name }) => await list.isStructured(name));
  assert.deepEqual(await Promise.all(asked), [true, false, false]);
  assert.deepEqual(
    infos.map(({ name }) => list.isStructured(name)),
    [true, false, false],
  );
});

test("reports a changed list once for each change, and only to a client that listed tools", async () => {
  let infos = [info("a"), info("b")];
  const list = createList(() => infos);
  assert.equal(await list.hasChanged(), false);
  await list.refresh();
  assert.equal(await list.hasChanged(), false);
  infos = [info("a"), info("b", { state: "quarantined" })];
  assert.deepEqual([await list.hasChanged(), await list.hasChanged()], [true, false]);
  infos = [info("a", { definitionHash: Buffer.alloc(32, 1) })];
  assert.equal(await list.hasChanged(), true);
});
