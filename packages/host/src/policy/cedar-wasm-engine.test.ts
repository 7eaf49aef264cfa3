import assert from "node:assert/strict";
import { test } from "node:test";
import { load, requestFor, TEST_SCHEMA } from "./test-policy.ts";
import { createCedarWasmEngine } from "./cedar-wasm-engine.ts";

async function engine(text: string) {
  return createCedarWasmEngine(await load(text), TEST_SCHEMA);
}

test("a request that does not fit the schema is an error, never an answer", async () => {
  const { evaluate } = await engine("permit(principal, action, resource);");
  const good = requestFor("echo");
  assert.deepEqual(evaluate(good), { allowed: true, rules: ["p.cedar#1"], errors: [] });
  const bad = [
    { ...good, action: { type: "Action", id: "nope" } },
    { ...good, principal: { type: "Robot", id: "r" } },
    { ...good, context: {} },
    { ...good, context: { ...good.context, calls: "3" } },
    { ...good, context: { ...good.context, calls: 1e300 } },
    { ...good, context: { ...good.context, tool: "\ud800" } },
    { ...good, entities: good.entities.map((entity) => ({ ...entity, attrs: {} })) },
  ];
  for (const request of bad) {
    const { allowed, rules, errors } = evaluate(request);
    assert.deepEqual([allowed, rules, errors.length], [false, [], 1], JSON.stringify(request.context));
  }
});

test("an evaluation error is told with its rule", async () => {
  const text = '@id("sums") forbid(principal, action, resource) when { context.calls + 9007199254740991 * 2000 > 1 };';
  const { evaluate } = await engine(`permit(principal, action, resource);${text}`);
  const { errors } = evaluate(requestFor("echo"));
  assert.deepEqual(
    errors.map(({ rule }) => rule),
    ["sums"],
  );
  assert.match(errors[0]?.message ?? "", /overflow/);
});

test("a group speaks of the actions in it, and of no others", async () => {
  const { evaluate } = await engine('@id("g") permit(principal, action in Action::"git", resource);');
  assert.deepEqual(evaluate(requestFor("git_push")).rules, ["g"]);
  assert.equal(evaluate(requestFor("echo")).allowed, false);
});

test("what the schema does not have is not shown to rules", async () => {
  const { evaluate } = await engine("permit(principal, action, resource);");
  assert.equal(evaluate(requestFor("echo", { command: { anything: 1 }, programs: ["ls"] })).allowed, true);
});

test("forbid wins, and the rules that determined the answer are named in order", async () => {
  const rules = [
    '@id("b") forbid(principal, action, resource) when { context.labels.contains("secret") };',
    '@id("a") forbid(principal in Tenant::"acme", action, resource) when { context.labels.contains("secret") };',
    '@id("c") permit(principal is Agent in User::"ada", action, resource == Workspace::"/w");',
  ];
  const { evaluate, name } = await engine(rules.join("\n"));
  assert.equal(name, "cedar-wasm/4.13.0");
  assert.deepEqual(evaluate(requestFor("echo")), { allowed: true, rules: ["c"], errors: [] });
  assert.deepEqual(evaluate(requestFor("echo", { labels: ["secret"] })), {
    allowed: false,
    rules: ["a", "b"],
    errors: [],
  });
});

test("two engines at once each answer from their own rules", async () => {
  const first = await engine('@id("first") permit(principal, action, resource);');
  const second = await engine('@id("second") forbid(principal, action, resource);');
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(first.evaluate(requestFor("echo")).rules, ["first"]);
    assert.deepEqual(second.evaluate(requestFor("echo")).rules, ["second"]);
  }
});

test("an id can be any text", async () => {
  for (const id of ["__proto__", "0", "constructor", "a b/ü😀"]) {
    const { evaluate } = await engine(`@id("${id}") permit(principal, action, resource);`);
    assert.deepEqual(evaluate(requestFor("echo")).rules, [id]);
  }
});
