import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import * as fc from "fast-check";
import { COMPILED_CEDAR, compileCedar } from "./compile-cedar.ts";
import {
  ask,
  binary,
  choice,
  context,
  policy,
  requestOf,
  unary,
  value,
  variable,
  when,
} from "./testing/cedar-terms.ts";

const read = { op: "==", entity: { type: "Action", id: "read" } };
const ERRING = when(binary("==", context("missing"), value(1)));

function nested(depth: number): JsonObject {
  let body: JsonObject = value(true);
  for (let level = 0; level < depth; level++) body = unary("!", body);
  return body;
}

describe("unsupported rules are rejected before any evaluation", () => {
  const sound = policy("sound");
  const expressions: [name: string, body: JsonValue, message: RegExp][] = [
    ["an extension", { ip: [value("1.2.3.4")] }, /^`ip` is not supported$/],
    ["one where it is never evaluated", choice(value(true), value(true), { decimal: [value("1.0")] }), /`decimal`/],
    ["one inside a set", { Set: [{ datetime: [value("2020-01-01")] }] }, /`datetime`/],
    ["one inside a record", { Record: { a: { duration: [value("1h")] } } }, /`duration`/],
    ["one as a literal", value({ __extn: { fn: "ip", arg: "1.2.3.4" } }), /literal of an unknown kind/],
    ["a template's slot", { Slot: "?principal" }, /`Slot`/],
    ["an operator of the future", binary("xor", value(true), value(true)), /`xor`/],
    ["an operator named like a method", { constructor: [] }, /`constructor`/],
    ["a long that was rounded", value(2 ** 53), /beyond 2\^53/],
    ["a fraction", value(0.5), /beyond 2\^53/],
    ["null", value(null), /literal of an unknown kind/],
    ["an unknown variable", variable("environment"), /unknown variable/],
    ["no operator", {}, /unknown shape/],
    ["two operators", { ...value(true), ...variable("context") }, /unknown shape/],
    ["an operand too many", { "==": { left: value(1), right: value(1), third: value(1) } }, /`third`/],
    ["an operand too few", { "==": { left: value(1) } }, /without `right`/],
    ["a pattern element", { like: { left: value("a"), pattern: ["Digit"] } }, /unknown shape/],
    ["a path without attributes", { has: { left: variable("context"), attr: [] } }, /without an attribute/],
    ["a record that reads as an entity", { Record: { __entity: value(1) } }, /reserved attribute `__entity`/],
    ["deep nesting", nested(201), /nested deeper than 200/],
    ["nesting that no stack could hold", nested(100_000), /nested deeper than 200/],
    ["text for an expression", "true", /unknown shape/],
  ];
  for (const [name, body, message] of expressions) {
    test(name, () => {
      const bad = policy("bad", { conditions: [{ kind: "when", body }] });
      const { engine, unsupported } = compileCedar([sound, bad, policy("worse", { effect: "maybe" })]);
      assert.equal(engine, undefined);
      assert.equal(unsupported?.rule, "bad");
      assert.match(unsupported?.message ?? "", message);
    });
  }

  const rules: [name: string, parts: JsonObject, message: RegExp][] = [
    ["another effect", { effect: "maybe" }, /effect/],
    ["another kind of condition", when(value(true), "whenever"), /kind of condition/],
    ["a template", { principal: { op: "==", slot: "?principal" } }, /template/],
    ["a template with a type", { resource: { op: "is", entity_type: "Doc", in: { slot: "?resource" } } }, /template/],
    ["another scope", { principal: { op: "!=", entity: { type: "User", id: "a" } } }, /scope with `!=`/],
    ["another action scope", { action: { op: "is", entity_type: "Action" } }, /action scope with `is`/],
    ["an action scope of two kinds", { action: { ...read, op: "in", entities: [] } }, /`entity`/],
    ["an entity without id", { principal: { op: "==", entity: { type: "User" } } }, /without `id`/],
    ["another field", { priority: 1 }, /`priority`/],
  ];
  for (const [name, parts, message] of rules) {
    test(`a rule with ${name}`, () => {
      const { unsupported } = compileCedar([policy("bad", parts)]);
      assert.match(unsupported?.message ?? "", message);
    });
  }

  test("two rules of one id", () => {
    const { unsupported } = compileCedar([sound, sound]);
    assert.deepEqual(unsupported, { rule: "sound", message: "two rules have this id" });
  });
});

describe("the decision", () => {
  test("denies if no rule is satisfied, and if there are no rules", () => {
    const denied = { allowed: false, rules: [], errors: [] };
    assert.deepEqual(ask([]), denied);
    assert.deepEqual(ask([policy("p", when(value(false)))]), denied);
    assert.deepEqual(ask([policy("p", when(value(true), "unless"))]), denied);
  });

  test("denies if a forbid is satisfied, whatever is permitted, and names only the forbids", () => {
    const rules = [policy("b", { effect: "forbid" }), policy("p"), policy("a", { effect: "forbid" })];
    assert.deepEqual(ask(rules), { allowed: false, rules: ["a", "b"], errors: [] });
  });

  test("ignores a forbid with an error, as Cedar does, and reports the error", () => {
    const answer = ask([policy("p"), policy("f", { effect: "forbid", ...ERRING })]);
    assert.deepEqual(answer, {
      allowed: true,
      rules: ["p"],
      errors: [{ rule: "f", message: "record does not have the attribute `missing`" }],
    });
  });

  test("reports rules with errors beside a forbid, sorted, for all actions and for one", () => {
    const rules = [policy("z", ERRING), policy("f", { effect: "forbid" }), policy("a", { action: read, ...ERRING })];
    const { rules: determining, errors } = ask(rules);
    assert.deepEqual(determining, ["f"]);
    assert.deepEqual(
      errors.map(({ rule }) => rule),
      ["a", "z"],
    );
  });

  test("names all permits, sorted by id", () => {
    assert.deepEqual(ask([policy("b"), policy("c", { action: read }), policy("a")]).rules, ["a", "b", "c"]);
  });

  test("any thrown value is an error of that rule only", () => {
    const hostile: JsonObject = {};
    Object.defineProperty(hostile, "x", {
      enumerable: true,
      get() {
        throw new TypeError("not today");
      },
    });
    const rules = [policy("p"), policy("f", { effect: "forbid", ...when(context("x")) })];
    assert.deepEqual(ask(rules, { context: hostile }), {
      allowed: true,
      rules: ["p"],
      errors: [{ rule: "f", message: "not today" }],
    });
  });

  test("values too deep for the stack cause an error, not a crash", () => {
    let deep: JsonValue = [];
    for (let level = 0; level < 200_000; level++) deep = [deep];
    const rule = policy("p", when(binary("==", context("left"), context("right"))));
    const { allowed, errors } = ask([rule], { context: { left: deep, right: [1] } });
    assert.equal(allowed, false);
    assert.equal(errors[0]?.rule, "p");
  });

  test("evaluates a chain of many operands without deep nesting", () => {
    let body = value(false);
    for (let count = 0; count < 20_000; count++) body = binary("||", body, binary("==", context("n"), value(count)));
    assert.equal(ask([policy("p", when(body))], { context: { n: 19_999 } }).allowed, true);
  });

  test("names its engine and version", () => {
    const { engine } = compileCedar([]);
    assert.equal(engine?.name, COMPILED_CEDAR);
    assert.match(COMPILED_CEDAR, /^narthex-cedar\/\d+$/);
  });
});

describe("rules for actions", () => {
  const groups = new Map([
    ["git_push", ["git"]],
    ["git", ["outside"]],
  ]);
  const about = (id: string, action: JsonObject): ReturnType<typeof policy> => policy(id, { action });
  const action = (id: string): JsonObject => ({ type: "Action", id });
  const rules = [
    about("exactly git_push", { op: "==", entity: action("git_push") }),
    about("exactly git", { op: "==", entity: action("git") }),
    about("in git", { op: "in", entity: action("git") }),
    about("in outside", { op: "in", entity: action("outside") }),
    about("in a list", { op: "in", entities: [action("echo"), action("git"), action("outside")] }),
    about("in an empty list", { op: "in", entities: [] }),
    about("another type", { op: "==", entity: { type: "Area::Action", id: "git_push" } }),
    policy("any"),
    policy("by condition", when(binary("in", variable("action"), value({ __entity: action("outside") })))),
  ];
  const cases: [action: string, expected: string[]][] = [
    ["git_push", ["any", "by condition", "exactly git_push", "in a list", "in git", "in outside"]],
    ["git", ["any", "by condition", "exactly git", "in a list", "in git", "in outside"]],
    ["outside", ["any", "by condition", "in a list", "in outside"]],
    ["echo", ["any", "in a list"]],
    ["unheard-of", ["any"]],
    ["__proto__", ["any"]],
  ];
  for (const [id, expected] of cases) {
    test(`${id}: ${expected.join(", ")}`, () => {
      assert.deepEqual(ask(rules, { action: { type: "Action", id } }, groups).rules, expected);
    });
  }

  test("includes groups that a request itself supplies", () => {
    const entities = [{ uid: { type: "Action", id: "echo" }, attrs: {}, parents: [{ type: "Action", id: "git" }] }];
    const answer = ask(rules, { action: { type: "Action", id: "echo" }, entities }, groups);
    assert.deepEqual(answer.rules, ["any", "by condition", "in a list", "in git", "in outside"]);
  });

  test("cyclic groups terminate", () => {
    const circle = new Map([
      ["a", ["b"]],
      ["b", ["a"]],
    ]);
    const { rules } = ask(
      [about("p", { op: "in", entity: action("b") })],
      { action: { type: "Action", id: "a" } },
      circle,
    );
    assert.deepEqual(rules, ["p"]);
  });

  test("does not evaluate a rule for another action", () => {
    const { errors } = ask([policy("p", { action: read, ...ERRING })], { action: { type: "Action", id: "write" } });
    assert.deepEqual(errors, []);
  });
});

test("adding a forbid never turns a denial into a permission, and order changes nothing", () => {
  const body = fc.constantFrom(value(true), value(false), context("flag"), context("missing"), value(1));
  const one = fc.record({ effect: fc.constantFrom("permit", "forbid"), body, isForRead: fc.boolean() });
  const make = (parts: { effect: string; body: JsonObject; isForRead: boolean }, id: string) =>
    policy(id, { effect: parts.effect, ...(parts.isForRead ? { action: read } : {}), ...when(parts.body) });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 8 }), body, fc.boolean(), (parts, forbidden, flag) => {
      const rules = parts.map((part, number) => make(part, `r${number}`));
      const request = requestOf({ context: { flag } });
      const before = ask(rules, request);
      assert.deepEqual(ask(rules.toReversed(), request), before);
      const more = [...rules, make({ effect: "forbid", body: forbidden, isForRead: false }, "last")];
      const after = ask(more, request);
      assert.ok(before.allowed || !after.allowed);
      const isSkipped = after.errors.some(({ rule }) => rule === "last");
      assert.equal(after.allowed, before.allowed && (isSkipped || !after.rules.includes("last")));
    }),
  );
});
