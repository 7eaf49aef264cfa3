import type { JsonObject, JsonValue } from "@narthex/contracts";
import type { Chance } from "../chance/chance.ts";
import { ATTRIBUTE_NAMES, ATTRIBUTES, asJson, ENTITIES, LARGEST, LONGS, STRINGS, TYPES } from "./cedar-world.ts";

export type ValueType = "bool" | "long" | "string" | "entity" | "set" | "record";
const VALUE_TYPES: readonly ValueType[] = ["bool", "long", "string", "entity", "set", "record"];

/** An expression in Cedar's JSON form, of the type that is asked for unless it is meant to be wrong. */
export function anyExpression(chance: Chance, type: ValueType, depth: number): JsonObject {
  const made = chance.oneIn(40) ? chance.pick(VALUE_TYPES) : type;
  if (depth > 0 && chance.oneIn(15)) {
    const branch = (): JsonObject => anyExpression(chance, made, depth - 1);
    return { "if-then-else": { if: anyExpression(chance, "bool", depth - 1), then: branch(), else: branch() } };
  }
  return MAKERS[made](chance, depth);
}

type Maker = (chance: Chance, depth: number) => JsonObject;

const MAKERS: Readonly<Record<ValueType, Maker>> = {
  bool: (chance, depth) => (depth <= 0 ? simpleTest(chance) : chance.pick(TESTS)(chance, depth - 1)),
  long: anyLong,
  string: (chance) => (chance.oneIn(2) ? { Value: chance.pick(STRINGS) } : attributeOf(chance, "string")),
  entity: (chance) =>
    chance.oneIn(2) ? entityVariable(chance) : { Value: { __entity: asJson(chance.pick(ENTITIES)) } },
  set: anySet,
  record: anyRecord,
};

function simpleTest(chance: Chance): JsonObject {
  if (chance.oneIn(3)) return { Value: chance.oneIn(2) };
  if (chance.oneIn(2)) return attributeOf(chance, "bool");
  return { has: { left: recordOrEntity(chance), attr: chance.pick(ATTRIBUTE_NAMES) } };
}

const pair = (chance: Chance, left: ValueType, right: ValueType, depth: number): JsonObject => ({
  left: anyExpression(chance, left, depth),
  right: anyExpression(chance, right, depth),
});

const TESTS: readonly Maker[] = [
  simpleTest,
  simpleTest,
  (chance, depth) => ({ [chance.pick(["&&", "||"])]: pair(chance, "bool", "bool", depth) }),
  (chance, depth) => ({ [chance.pick(["&&", "||"])]: pair(chance, "bool", "bool", depth) }),
  (chance, depth) => ({ "!": { arg: anyExpression(chance, "bool", depth) } }),
  anyEquality,
  anyEquality,
  (chance, depth) => ({ [chance.pick(["<", "<=", ">", ">="])]: pair(chance, "long", "long", depth) }),
  (chance, depth) => ({ [chance.pick(["<", "<=", ">", ">="])]: pair(chance, "long", "long", depth) }),
  (chance, depth) => ({ in: pair(chance, "entity", "entity", depth) }),
  (chance, depth) => ({ in: { left: anyExpression(chance, "entity", depth), right: entitySet(chance, depth) } }),
  anyIs,
  (chance) => ({ has: { left: recordOrEntity(chance), attr: anyPath(chance) } }),
  (chance, depth) => ({ like: { left: anyExpression(chance, "string", depth), pattern: anyPattern(chance) } }),
  (chance, depth) => ({ like: { left: anyExpression(chance, "string", depth), pattern: anyPattern(chance) } }),
  anyContains,
  (chance, depth) => ({ [chance.pick(["containsAll", "containsAny"])]: pair(chance, "set", "set", depth) }),
  (chance, depth) => ({ isEmpty: { arg: anyExpression(chance, "set", depth) } }),
  (chance, depth) => ({ hasTag: pair(chance, "entity", "string", depth) }),
  (chance, depth) => (chance.oneIn(4) ? { getTag: pair(chance, "entity", "string", depth) } : simpleTest(chance)),
];

function anyEquality(chance: Chance, depth: number): JsonObject {
  const type = chance.pick(VALUE_TYPES);
  const other = chance.oneIn(8) ? chance.pick(VALUE_TYPES) : type;
  const operands = pair(chance, type, other, depth);
  const isReflexive = chance.oneIn(8);
  return {
    [chance.pick(["==", "!="])]: isReflexive
      ? { left: operands["left"] ?? null, right: operands["left"] ?? null }
      : operands,
  };
}

function anyContains(chance: Chance, depth: number): JsonObject {
  return { contains: pair(chance, "set", chance.pick(["string", "string", "long", ...VALUE_TYPES]), depth) };
}

function anyIs(chance: Chance, depth: number): JsonObject {
  const left = anyExpression(chance, "entity", depth);
  const type = { left, entity_type: chance.pick(TYPES) };
  return { is: chance.oneIn(2) ? type : { ...type, in: anyExpression(chance, "entity", depth) } };
}

/** Sums that end at the edge of 64 bits, on this side or on that. */
function anyLong(chance: Chance, depth: number): JsonObject {
  if (depth <= 0 || chance.oneIn(2)) {
    return chance.oneIn(2) ? { Value: chance.pick(LONGS) } : attributeOf(chance, "long");
  }
  if (chance.oneIn(4)) {
    const edge = { "*": { left: { Value: chance.oneIn(2) ? LARGEST : -LARGEST }, right: { Value: 1024 } } };
    const last = { Value: chance.pick([-1025, -1024, -1023, 1023, 1024, 1025]) };
    const sum = { [chance.pick(["+", "-"])]: { left: edge, right: last } };
    return chance.oneIn(3) ? { neg: { arg: sum } } : sum;
  }
  if (chance.oneIn(4)) return { neg: { arg: anyExpression(chance, "long", depth - 1) } };
  return { [chance.pick(["+", "-", "*"])]: pair(chance, "long", "long", depth - 1) };
}

function anySet(chance: Chance, depth: number): JsonObject {
  if (chance.oneIn(2)) return attributeOf(chance, "set");
  const type = chance.pick(["string", "string", "long", ...VALUE_TYPES] as const);
  const most = chance.oneIn(20) ? 80 : 4;
  return { Set: chance.several(most, () => anyExpression(chance, type, most > 4 ? 0 : depth - 1)) };
}

function entitySet(chance: Chance, depth: number): JsonObject {
  return { Set: chance.several(4, () => anyExpression(chance, "entity", depth - 1)) };
}

function anyRecord(chance: Chance, depth: number): JsonObject {
  if (chance.oneIn(3)) return { Var: "context" };
  if (chance.oneIn(2)) return attributeOf(chance, "record");
  const member = (): [string, JsonValue] => [
    chance.pick(ATTRIBUTE_NAMES),
    anyExpression(chance, chance.pick(VALUE_TYPES), depth - 2),
  ];
  return { Record: Object.fromEntries(chance.several(3, member)) };
}

function attributeOf(chance: Chance, type: keyof typeof ATTRIBUTES): JsonObject {
  const name = chance.oneIn(30) ? chance.pick(ATTRIBUTE_NAMES) : chance.pick<string>(ATTRIBUTES[type]);
  return { ".": { left: recordOrEntity(chance), attr: name } };
}

function recordOrEntity(chance: Chance): JsonObject {
  if (chance.oneIn(3)) return entityVariable(chance);
  if (chance.oneIn(3)) return { ".": { left: { Var: "context" }, attr: chance.pick(ATTRIBUTES.record) } };
  return { Var: "context" };
}

function entityVariable(chance: Chance): JsonObject {
  return { Var: chance.pick(["principal", "principal", "resource", "resource", "action"]) };
}

/** Attributes of records first, so that the way goes on; all of them are identifiers, as the text form demands. */
function anyPath(chance: Chance): string[] {
  const way = chance.several(2, () => chance.pick(ATTRIBUTES.record));
  return [...way, chance.pick(Object.values(ATTRIBUTES).flat())];
}

function anyPattern(chance: Chance): JsonValue[] {
  return chance.several(5, () =>
    chance.oneIn(2) ? "Wildcard" : { Literal: chance.pick(["a", "b", "ab", "*", "🤖"]) },
  );
}
