import type { JsonObject, JsonValue } from "@narthex/contracts";
import type { Chance } from "../chance/chance.ts";
import { ATTRIBUTES, LONGS, STRINGS } from "./cedar-world.ts";

/** Attributes of the world, most of them there and of the type that rules expect. */
export function anyAttributes(chance: Chance, depth: number): JsonObject {
  const members: [string, JsonValue][] = [];
  for (const [type, names] of Object.entries(ATTRIBUTES)) {
    for (const name of names) {
      if (chance.oneIn(depth > 0 ? 4 : 2)) continue;
      members.push([name, chance.oneIn(12) ? anyValue(chance, depth) : valueOf(chance, type, depth)]);
    }
  }
  if (chance.oneIn(4)) members.push([chance.pick(["toString", "a b", ""]), anyValue(chance, depth)]);
  // Also `__proto__` becomes a member of the object itself.
  return Object.fromEntries(members);
}

function valueOf(chance: Chance, type: string, depth: number): JsonValue {
  switch (type) {
    case "long":
      return chance.pick(LONGS);
    case "string":
      return chance.pick(STRINGS);
    case "bool":
      return chance.oneIn(2);
    case "set":
      return anySet(chance, depth);
    default:
      return depth > 0 ? anyAttributes(chance, depth - 1) : {};
  }
}

function anyValue(chance: Chance, depth: number): JsonValue {
  return valueOf(chance, chance.pick(["long", "string", "bool", "set", "record"]), depth - 1);
}

function anySet(chance: Chance, depth: number): JsonValue[] {
  const type = chance.pick(["long", "string", "string", "any"]);
  const most = chance.oneIn(100) ? 40 : 4;
  return chance.several(most, () =>
    type === "any" && depth > 0 ? anyValue(chance, depth) : valueOf(chance, type === "any" ? "long" : type, 0),
  );
}
