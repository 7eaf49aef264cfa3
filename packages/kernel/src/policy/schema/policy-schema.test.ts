import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { Capability } from "../../capability/capability.ts";
import { permittedActions } from "./permitted-actions.ts";
import { type PolicyTool, policySchema } from "./policy-schema.ts";
import { readPolicySchema } from "./read-policy-schema.ts";

const READS: Capability = { kind: "fs_read", prefixes: ["/"] };

function tool(name: string, properties: JsonObject = {}, more: Partial<PolicyTool> & { required?: string[] } = {}) {
  const { required = [], ...rest } = more;
  const inputSchema: JsonObject = { type: "object", properties, required };
  return { declaration: { name, inputSchema, capabilities: [] }, ...rest } satisfies PolicyTool;
}

const isCode = (code: string) => (fault: unknown) => isKernelError(fault) && fault.code === code;

function contextOf(tools: readonly PolicyTool[], action: string): JsonObject {
  const json = policySchema(tools).json as { "": { commonTypes: Record<string, { attributes: JsonObject }> } };
  return json[""].commonTypes[`Context_${action}`]?.attributes ?? assert.fail(`no context for ${action}`);
}

function inputOf(tools: readonly PolicyTool[], action: string): JsonObject {
  const input = contextOf(tools, action)["input"] as { attributes: JsonObject };
  return input.attributes;
}

test("rejects two tools with the same action, and a tool with one of the kernel's own", () => {
  const git = tool("git", {}, { actions: ["git_status", "git_push"] });
  for (const other of [tool("git_push"), tool("write_protected"), tool("other", {}, { actions: ["git"] })]) {
    assert.throws(() => policySchema([git, other]), isCode("ALREADY_REGISTERED"));
  }
});

test("a tool cannot define facts that the kernel itself provides to rules", () => {
  for (const name of ["labels", "tier", "input", "path", "host", "definition_hash", "budget"]) {
    const facts: JsonObject = { type: "object", properties: { [name]: { type: "string" } } };
    assert.throws(() => policySchema([tool("liar", {}, { facts })]), isCode("INVALID_DECLARATION"), name);
  }
});

test("a value without a Cedar type, or with two possible types, is hidden", () => {
  const hidden: JsonObject = {
    fraction: { type: "number" },
    either: { type: ["string", "null"] },
    choice: { anyOf: [{ type: "string" }, { type: "integer" }] },
    reference: { $ref: "#/$defs/x" },
    untyped: {},
    anything: true,
    nothing: { type: "null" },
    map: { type: "object", additionalProperties: { type: "string" } },
    hollow: { type: "object", properties: { x: { type: "number" } } },
    tuple: { type: "array", prefixItems: [{ type: "integer" }], items: { type: "string" } },
    mixed: { type: "array" },
    nested: { type: "array", items: { type: "array", items: { type: "string" } } },
    records: { type: "array", items: { type: "object", properties: { x: { type: "string" } } } },
    constant: { const: "a" },
  };
  // `__proto__` must be a property of its own, as it is in parsed JSON.
  const reserved = JSON.parse(
    '{"__proto__":{"type":"string"},"__entity":{"type":"string"},"__extn":{"type":"string"}}',
  );
  assert.deepEqual(inputOf([tool("t", { ...hidden, ...reserved })], "t"), {});
  assert.deepEqual(inputOf([tool("t", reserved)], "t"), {});
  for (const inputSchema of [true, false, {}, { properties: { a: { type: "string" } } }, { type: "string" }]) {
    const loose: PolicyTool = { declaration: { name: "t", inputSchema, capabilities: [] } };
    assert.deepEqual(inputOf([loose], "t"), {}, JSON.stringify(inputSchema));
  }
});

test("a value with a Cedar type is visible, and required if the schema requires it or gives it a default", () => {
  const properties: JsonObject = {
    text: { type: "string", maxLength: 3 },
    one: { type: ["integer"] },
    flag: { type: "boolean", default: false },
    list: { type: "array", items: { type: "integer" } },
    deep: { type: "object", required: ["x"], properties: { x: { type: "string" }, y: { type: "number" } } },
  };
  assert.deepEqual(inputOf([tool("t", properties, { required: ["text"] })], "t"), {
    text: { type: "String", required: true },
    one: { type: "Long", required: false },
    flag: { type: "Boolean", required: true },
    list: { type: "Set", element: { type: "Long" }, required: false },
    deep: { type: "Record", attributes: { x: { type: "String", required: true } }, required: false },
  });
});

test("a field of several tool versions is visible if it has one type in all of them", () => {
  const deep = (x: string, y: string): JsonObject => ({
    type: "object",
    properties: { x: { type: x }, y: { type: y } },
  });
  const first = tool(
    "t",
    { a: { type: "string" }, b: { type: "string" }, c: deep("string", "integer"), d: deep("string", "string") },
    { required: ["a"] },
  );
  const second = tool("t", {
    a: { type: "string" },
    b: { type: "integer" },
    c: deep("string", "boolean"),
    d: deep("integer", "integer"),
  });
  const expected = {
    a: { type: "String", required: false },
    c: { type: "Record", attributes: { x: { type: "String", required: false } }, required: false },
  };
  assert.deepEqual(inputOf([first, second], "t"), expected);
  assert.deepEqual(inputOf([second, first], "t"), expected);
});

test("capabilities define the attributes; a host exists only for tools that use the network", () => {
  const all: Capability[] = [
    READS,
    { kind: "net_read", hosts: [] },
    { kind: "exec", names: ["*"] },
    { kind: "db_write", names: ["*"] },
  ];
  const none = tool("t");
  const full: PolicyTool = { declaration: { ...none.declaration, capabilities: all } };
  const names = ["path", "writes", "host", "port", "sends", "programs", "tables"];
  const bare = contextOf([none], "t");
  for (const name of names) assert.ok(!(name in bare), name);
  const needed = (context: JsonObject) => names.filter((name) => (context[name] as JsonObject)["required"] === true);
  assert.deepEqual(needed(contextOf([full], "t")), ["path", "writes", "programs", "tables"]);
  assert.deepEqual(needed(contextOf([full, none], "t")), []);
});

test("a tool's actions are in the group of its name", () => {
  const schema = policySchema([tool("git", {}, { actions: ["git_push", "git_log"] }), tool("echo")]);
  assert.deepEqual(schema.actions, ["echo", "git", "git_log", "git_push", "write_protected"]);
  assert.deepEqual(schema.groupsOf("git_push"), ["git_push", "git"]);
  assert.deepEqual(schema.groupsOf("echo"), ["echo"]);
  const itself = policySchema([tool("t", {}, { actions: ["t", "t_more"] })]);
  assert.deepEqual(itself.groupsOf("t_more"), ["t_more", "t"]);
  assert.equal(itself.findMissing({ action: { type: "Action", id: "t" }, context: {} }), "budget");
});

test("the same tools in any order give the same bytes, and stored bytes restore the same schema", () => {
  const tools = [tool("a", { x: { type: "string" } }), tool("b", {}, { actions: ["b_1", "b_2"] }), tool("c")];
  const schema = policySchema(tools);
  assert.deepEqual(policySchema(tools.toReversed()).bytes, schema.bytes);
  const again = readPolicySchema(JSON.parse(new TextDecoder().decode(schema.bytes)) as JsonValue);
  assert.deepEqual(again.hash, schema.hash);
  assert.deepEqual(again.visibleInput("a", { x: "1", y: 2 }), { x: "1" });
});

test("rejects JSON that is not a Narthex schema", () => {
  const others: JsonValue[] = [
    null,
    {},
    { "": {} },
    { "": { actions: {}, commonTypes: [] } },
    { "": { commonTypes: {}, actions: { a: { appliesTo: { context: { type: "Nowhere" } } } } } },
    { "": { commonTypes: { C: { type: "Set" } }, actions: { a: { appliesTo: { context: { type: "C" } } } } } },
    { "": { commonTypes: { C: { type: "Record" } }, actions: { a: { appliesTo: { context: { type: "C" } } } } } },
  ];
  for (const json of others)
    assert.throws(() => readPolicySchema(json), isCode("POLICY_INVALID"), JSON.stringify(json));
});

test("reports missing required attributes of a request, and knows none for an unknown action", () => {
  const schema = policySchema([tool("t")]);
  const missing = (id: string, context: JsonObject, type = "Action") =>
    schema.findMissing({ action: { type, id }, context });
  assert.equal(missing("nope", {}), "action");
  assert.equal(missing("t", {}, "Agent"), "action");
  const context = Object.fromEntries(Object.keys(contextOf([tool("t")], "t")).map((name) => [name, ""]));
  assert.equal(missing("t", context), undefined);
  for (const name of Object.keys(context)) {
    const { [name]: _, ...rest } = context;
    assert.equal(missing("t", rest), name);
    assert.equal(missing("t", Object.assign(Object.create({ [name]: "inherited" }), rest)), name);
  }
});

test("an action can be permitted by a rule for it, for its group or for all, never by a forbid", () => {
  const schema = policySchema([tool("git", {}, { actions: ["git_push", "git_log"] }), tool("echo")]);
  const rule = (effect: string, action: JsonObject) => ({ id: "r", json: { effect, action } });
  const entity = (id: string): JsonObject => ({ type: "Action", id });
  const permitted = (...rules: ReturnType<typeof rule>[]) => [...permittedActions(rules, schema)];
  assert.deepEqual(permitted(), []);
  assert.deepEqual(permitted(rule("forbid", { op: "All" })), []);
  assert.deepEqual(permitted(rule("permit", { op: "==", entity: entity("git") })), ["git"]);
  assert.deepEqual(permitted(rule("permit", { op: "in", entity: entity("git") })), ["git", "git_log", "git_push"]);
  assert.deepEqual(
    permitted(rule("permit", { op: "in", entities: [entity("echo"), { __entity: entity("git_log") }] })),
    ["echo", "git_log"],
  );
  assert.deepEqual(permitted(rule("permit", { op: "All" })), schema.actions);
});

test("an action under an unconditional forbid for everyone cannot be permitted; any other forbid hides nothing", () => {
  const schema = policySchema([tool("git", {}, { actions: ["git_push", "git_log"] }), tool("echo")]);
  const all = { op: "All" };
  const flat = { effect: "forbid", principal: all, resource: all, conditions: [] };
  const permit = { id: "p", json: { effect: "permit", action: all } };
  const echo: JsonObject = { op: "==", entity: { type: "Action", id: "echo" } };
  const git: JsonObject = { op: "in", entity: { type: "Action", id: "git" } };
  const left = (json: JsonObject) => [...permittedActions([permit, { id: "f", json }], schema)];
  const without = (...hidden: string[]) => schema.actions.filter((action) => !hidden.includes(action));
  assert.deepEqual(left({ ...flat, action: echo }), without("echo"));
  assert.deepEqual(left({ ...flat, action: git }), without("git", "git_push", "git_log"));
  assert.deepEqual(left({ ...flat, action: all }), []);
  const someone: JsonObject = { op: "==", entity: { type: "Agent", id: "a" } };
  assert.deepEqual(left({ ...flat, action: echo, principal: someone }), schema.actions);
  assert.deepEqual(left({ ...flat, action: echo, resource: someone }), schema.actions);
  assert.deepEqual(left({ ...flat, action: echo, conditions: [{ kind: "when", body: {} }] }), schema.actions);
});
