import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import {
  ask,
  binary,
  choice,
  context,
  entity,
  has,
  like,
  of,
  policy,
  set,
  unary,
  value,
  variable,
  when,
} from "./testing/cedar-terms.ts";

const ANN = entity("User", "ann");
const NOBODY = entity("User", "nobody");
const RED = entity("Team", "red");
const principal = variable("principal");
const TRUE = value(true);
const FALSE = value(false);
const ERROR = context("missing");
const ONE = value(1);
const A = value("a");
const LARGEST = value(Number.MAX_SAFE_INTEGER);
/** 2^63 - 1024. */
const EDGE = binary("*", LARGEST, value(1024));
const record = (members: Record<string, JsonObject>): JsonObject => ({ Record: members });

const CONTEXT = JSON.parse(
  `{"n": 1, "s": "a", "b": true, "list": ["a", "b", "a"], "records": [{"x": [1, 2]}], "r": {"in": {"deep": 1}},
    "nothing": null, "half": 0.5, "huge": 9007199254740993, "__proto__": 5,
    "entity": {"__entity": {"type": "User", "id": "ann"}}, "extension": {"__extn": {"fn": "ip", "arg": "::1"}}}`,
) as JsonObject;

function outcomeOf(body: JsonObject): boolean | string {
  const [yes, no] = [
    ask([policy("p", when(body))], { context: CONTEXT }),
    ask([policy("p", when(body, "unless"))], { context: CONTEXT }),
  ];
  assert.deepEqual(no.errors, yes.errors);
  if (yes.errors.length === 0) assert.equal(no.allowed, !yes.allowed);
  return yes.errors[0]?.message ?? yes.allowed;
}

const errors: [name: string, body: JsonObject, message: RegExp][] = [
  ["a condition that is no bool", ONE, /^type error: expected bool, got long$/],
  ["&& of no bool on the left", binary("&&", ONE, FALSE), /expected bool, got long/],
  ["&& of no bool on the right", binary("&&", TRUE, ONE), /expected bool, got long/],
  ["|| of no bool on the left", binary("||", A, TRUE), /expected bool, got string/],
  ["|| of no bool on the right", binary("||", FALSE, principal), /expected bool, got entity/],
  ["! of no bool", unary("!", set()), /expected bool, got set/],
  ["if of no bool", choice(ONE, TRUE, TRUE), /expected bool/],
  ["< of a string", binary("<", A, ONE), /expected long, got string/],
  [">= of a bool", binary(">=", ONE, TRUE), /expected long, got bool/],
  ["+ of a string", binary("+", ONE, A), /expected long, got string/],
  ["- of a record", unary("neg", variable("context")), /expected long, got record/],
  ["+ beyond 64 bits", binary("==", binary("+", EDGE, value(1024)), ONE), /overflow.* add/],
  ["- beyond 64 bits", binary("==", binary("-", unary("neg", EDGE), value(1025)), ONE), /overflow.* subtract/],
  ["* beyond 64 bits", binary("==", binary("*", LARGEST, LARGEST), ONE), /overflow.* multiply/],
  ["- of the least", binary("==", unary("neg", binary("-", unary("neg", EDGE), value(1024))), ONE), /overflow/],
  ["in of no entity", binary("in", ONE, RED), /expected entity, got long/],
  ["in no entity", binary("in", principal, A), /expected set or entity, got string/],
  ["in a set with another thing, after a match", binary("in", principal, set(ANN, ONE)), /expected entity, got long/],
  ["is of no entity", { is: { left: ONE, entity_type: "User" } }, /expected entity/],
  ["is in no entity", { is: { left: principal, entity_type: "User", in: ONE } }, /expected set or entity/],
  ["like of no string", like(ONE, "*"), /expected string, got long/],
  ["contains of no set", binary("contains", A, A), /expected set, got string/],
  ["contains of a record", binary("contains", variable("context"), A), /expected set, got record/],
  ["containsAll of no set", binary("containsAll", set(), ONE), /expected set, got long/],
  ["containsAny of no set", binary("containsAny", ONE, set()), /expected set, got long/],
  ["isEmpty of no set", unary("isEmpty", A), /expected set, got string/],
  ["an attribute of a long", of(ONE, "a"), /expected record or entity, got long/],
  ["an attribute of a set", of(set(), "length"), /expected record or entity, got set/],
  ["a missing attribute", ERROR, /record does not have the attribute `missing`/],
  ["a missing attribute of an entity", of(principal, "name"), /type `User` does not have the attribute `name`/],
  ["an attribute of a missing entity", of(variable("resource"), "name"), /type `Doc` does not exist/],
  ["has of a string", has(A, "length"), /expected record or entity, got string/],
  ["has on a way through a long", has(variable("context"), "n", "x"), /expected record or entity, got long/],
  ["hasTag of no entity", binary("hasTag", ONE, A), /expected entity/],
  ["hasTag with no string", binary("hasTag", principal, ONE), /expected string/],
  ["getTag", binary("getTag", principal, A), /does not have the tag/],
  ["an error in a set", binary("contains", set(ERROR), ONE), /attribute `missing`/],
  ["an error in a record", binary("==", record({ a: ERROR }), ONE), /attribute `missing`/],
  ["an error on the right of ==", binary("==", ONE, ERROR), /attribute `missing`/],
  ["null", binary("==", context("nothing"), ONE), /null is no value/],
  ["a fraction", binary("==", context("half"), ONE), /no long/],
  ["a rounded long", binary("<", ONE, context("huge")), /no long/],
  ["null inside what is compared", binary("==", set(variable("context")), set()), /no value|no long|reserved/],
  ["a record that another engine reads as an entity", binary("==", context("entity"), ANN), /`__entity`/],
  ["a record that another engine reads as an extension", has(context("extension"), "x"), /`__extn`/],
  ["toString, which no record has", of(variable("context"), "toString"), /does not have the attribute `toString`/],
  ["constructor, which no entity has", of(principal, "constructor"), /does not have the attribute `constructor`/],
];

const answers: [name: string, body: JsonObject, expected: boolean][] = [
  ["&& stops at false", binary("&&", FALSE, ERROR), false],
  ["|| stops at true", binary("||", TRUE, ERROR), true],
  ["a chain stops", binary("&&", binary("&&", TRUE, FALSE), ERROR), false],
  ["if evaluates one branch", choice(TRUE, TRUE, ERROR), true],
  ["else evaluates one branch", choice(FALSE, ERROR, FALSE), false],
  ["== of other types", binary("==", ONE, A), false],
  ["== of true and one", binary("==", TRUE, ONE), false],
  ['== of 1 and "1"', binary("==", value("1"), ONE), false],
  ["!= of other types", binary("!=", ONE, principal), true],
  [
    "== of an entity and its like as a record",
    binary("==", ANN, record({ type: value("User"), id: value("ann") })),
    false,
  ],
  ["== of entities", binary("==", principal, ANN), true],
  ["!= of entities of another type", binary("!=", principal, entity("Team", "ann")), true],
  ["== of sets in another order, with repetition", binary("==", context("list"), set(value("b"), A)), true],
  ["== of sets of sets", binary("==", set(set(ONE, ONE), set()), set(set(), set(ONE))), true],
  ["== of sets of other longs", binary("==", set(ONE, value(2)), set(ONE)), false],
  ["== of records", binary("==", record({ b: A, a: ONE }), record({ a: ONE, b: A })), true],
  ["== of records with one more", binary("==", record({ a: ONE, b: A }), record({ a: ONE })), false],
  ["== of an empty set and an empty record", binary("==", set(), record({})), false],
  ["== of longs beyond 2^53", binary("==", EDGE, binary("*", value(1024), LARGEST)), true],
  ["< of longs one apart beyond 2^53", binary("<", binary("-", EDGE, ONE), EDGE), true],
  ["> of a large and a small long", binary(">", EDGE, ONE), true],
  ["the largest long", binary(">", binary("+", EDGE, value(1023)), LARGEST), true],
  ["back below 2^53 a long is equal to itself", binary("==", binary("-", EDGE, EDGE), value(0)), true],
  ["-0 is 0", binary("==", unary("neg", value(0)), value(0)), true],
  ["in itself, though missing", binary("in", NOBODY, NOBODY), true],
  ["in a group, though missing", binary("in", NOBODY, RED), false],
  ["in a group above the group", binary("in", principal, entity("Firm", "all")), true],
  ["a group in its member", binary("in", RED, principal), false],
  ["in one of a set", binary("in", principal, set(NOBODY, RED)), true],
  ["in an empty set", binary("in", principal, set()), false],
  ["is", { is: { left: principal, entity_type: "User" } }, true],
  ["is of the group's type", { is: { left: principal, entity_type: "Team" } }, false],
  ["is in", { is: { left: principal, entity_type: "User", in: RED } }, true],
  ["is in, where the type already fails", { is: { left: principal, entity_type: "Team", in: ERROR } }, false],
  ["has", has(variable("context"), "n"), true],
  ["has not", has(variable("context"), "missing"), false],
  ["has on a way", has(variable("context"), "r", "in", "deep"), true],
  ["has on a way that ends early", has(variable("context"), "r", "out", "deep"), false],
  ["has of an entity", has(principal, "age"), true],
  ["has of a missing entity", has(NOBODY, "age"), false],
  ["has toString", has(variable("context"), "toString"), false],
  ["has __proto__, given as an attribute", has(variable("context"), "__proto__"), true],
  ["has __proto__, not given", has(context("r"), "__proto__"), false],
  ["__proto__ is what was given", binary("==", of(variable("context"), "__proto__"), value(5)), true],
  [
    "__proto__ in a literal",
    binary("==", of(record(JSON.parse('{"__proto__": {"Value": 1}}')), "__proto__"), ONE),
    true,
  ],
  ["a literal without __proto__ has none", has(record({ a: ONE }), "__proto__"), false],
  ["an attribute of an entity", binary("==", of(principal, "age"), value(7)), true],
  ["contains", binary("contains", context("list"), A), true],
  ["contains another type", binary("contains", context("list"), ONE), false],
  ["contains a record", binary("contains", context("records"), record({ x: set(value(2), ONE) })), true],
  ["contains an entity", binary("contains", set(RED, ANN), principal), true],
  ["contains no look-alike of an entity", binary("contains", set(value('User::"ann"')), principal), false],
  ["containsAll of a few", binary("containsAll", set(A, value("b"), ONE), context("list")), true],
  ["containsAll of nothing", binary("containsAll", set(), set()), true],
  ["containsAny of nothing", binary("containsAny", context("list"), set()), false],
  ["containsAny", binary("containsAny", context("list"), set(ONE, A)), true],
  ["isEmpty", unary("isEmpty", set()), true],
  ["hasTag", binary("hasTag", principal, A), false],
  ["like", like(context("s"), "*a"), true],
];

describe("errors", () => {
  for (const [name, body, message] of errors) {
    test(name, () => {
      const outcome = outcomeOf(body);
      assert.ok(typeof outcome === "string", `${outcome} and no error`);
      assert.match(outcome, message);
    });
  }
});

describe("answers", () => {
  for (const [name, body, expected] of answers) test(name, () => assert.equal(outcomeOf(body), expected));
});

describe("scopes", () => {
  const scope = (parts: JsonObject): boolean => ask([policy("p", parts)]).allowed;
  const red = { entity: { type: "Team", id: "red" } };
  test("of another principal or resource match nothing", () => {
    assert.equal(scope({ principal: { op: "==", ...red } }), false);
    assert.equal(scope({ principal: { op: "is", entity_type: "Team" } }), false);
    assert.equal(scope({ principal: { op: "is", entity_type: "Team", in: red } }), false);
    assert.equal(scope({ resource: { op: "in", ...red } }), false);
    assert.equal(scope({ resource: { op: "is", entity_type: "Doc", in: red } }), false);
  });

  test("of this principal or resource match by name, by type, and by every group above it", () => {
    assert.equal(scope({ principal: { op: "==", entity: { __entity: { type: "User", id: "ann" } } } }), true);
    assert.equal(scope({ principal: { op: "in", ...red } }), true);
    assert.equal(
      scope({ principal: { op: "is", entity_type: "User", in: { entity: { type: "Firm", id: "all" } } } }),
      true,
    );
    assert.equal(scope({ resource: { op: "is", entity_type: "Doc" } }), true);
  });
});
