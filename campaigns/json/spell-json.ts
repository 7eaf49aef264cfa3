import { isJsonObject, type JsonValue } from "@narthex/contracts";
import type { Chance } from "../chance/chance.ts";

const SPACES = ["", "", "", " ", "\n", "\t", "\r\n  "];

/** One of the many texts of a value: keys in any order, numbers and characters spelled in any way JSON has. */
export function spellJson(chance: Chance, value: JsonValue): string {
  const space = (): string => chance.pick(SPACES);
  if (typeof value === "string") return spellText(chance, value);
  if (typeof value === "number") return spellNumber(chance, value);
  if (Array.isArray(value)) {
    return `[${space()}${value.map((item) => spellJson(chance, item)).join(`${space()},${space()}`)}${space()}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = chance
    .shuffle(Object.entries(value))
    .map(([key, item]) => `${spellText(chance, key)}${space()}:${space()}${spellJson(chance, item)}`);
  return `{${space()}${members.join(`${space()},${space()}`)}${space()}}`;
}

function spellNumber(chance: Chance, value: number): string {
  if (value === 0) return chance.pick(["0", "-0", "0.0", "-0e5", "0E-3"]);
  switch (chance.below(4)) {
    case 0:
      return value.toExponential();
    case 1:
      return value.toExponential().replace("e+", "E");
    case 2:
      return Number.isSafeInteger(value) ? `${value}.${"0".repeat(1 + chance.below(3))}` : String(value);
    default:
      return String(value);
  }
}

function spellText(chance: Chance, text: string): string {
  if (chance.oneIn(2)) return JSON.stringify(text);
  let spelled = "";
  for (let i = 0; i < text.length; i++) {
    spelled += chance.oneIn(3) ? escapeUnit(chance, text.charCodeAt(i)) : JSON.stringify(text[i]).slice(1, -1);
  }
  // Halves of a pair that were spelled one raw and one escaped would not be UTF-8.
  return spelled.isWellFormed() ? `"${spelled}"` : JSON.stringify(text);
}

function escapeUnit(chance: Chance, unit: number): string {
  if (unit === 0x2f && chance.oneIn(2)) return "\\/";
  const hex = unit.toString(16).padStart(4, "0");
  return `\\u${chance.oneIn(2) ? hex : hex.toUpperCase()}`;
}
