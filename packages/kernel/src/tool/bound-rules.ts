import type { Violation } from "@narthex/contracts";
import { BOUND_CEILINGS, DECLARATION_CEILINGS } from "./ceilings.ts";
import type { Bounds, ToolDeclaration } from "./tool.ts";

/** Bounds that can only be enforced on a process or module from outside. */
const NOT_INLINE: readonly (keyof Bounds)[] = ["maxCpuMs", "maxMemoryBytes", "maxFuel"];
const REQUIRED: readonly (keyof Bounds)[] = ["timeoutMs", "maxOutputBytes"];

/** Finds violations in a declaration's bounds and price. */
export function findBoundProblems(tool: ToolDeclaration): Violation[] {
  const found: Violation[] = [];
  if (typeof tool.bounds !== "object" || tool.bounds === null) {
    return [{ field: "bounds", rule: "required", message: "must be given" }];
  }
  for (const name of Object.keys(tool.bounds)) {
    if (!Object.hasOwn(BOUND_CEILINGS, name)) {
      found.push({ field: "bounds", rule: "unknown_field", message: "holds a bound that does not exist" });
    }
  }
  for (const [name, ceiling] of Object.entries(BOUND_CEILINGS)) {
    if (!isBoundName(name)) continue;
    const problem = findProblem(tool, name, ceiling);
    if (problem !== undefined) found.push({ field: `bounds.${name}`, ...problem });
  }
  if (!isWhole(tool.price) || tool.price < 0 || tool.price > DECLARATION_CEILINGS.price) {
    const message = `must be a whole number from 0 to ${DECLARATION_CEILINGS.price}`;
    found.push({ field: "price", rule: "range", message });
  }
  return found;
}

function findProblem(tool: ToolDeclaration, name: keyof Bounds, ceiling: number): Omit<Violation, "field"> | undefined {
  const value = tool.bounds[name];
  if (value === undefined) {
    return REQUIRED.includes(name) ? { rule: "required", message: "must be given" } : undefined;
  }
  if (!isWhole(value) || value < 1 || value > ceiling) {
    return { rule: "range", message: `must be a whole number from 1 to ${ceiling}` };
  }
  if (tool.isolation === "inline" && NOT_INLINE.includes(name)) {
    return { rule: "exclusive", message: "cannot be enforced on inline code: leave it out or isolate the tool" };
  }
  if (name === "maxFuel" && tool.isolation !== "wasm") {
    return { rule: "exclusive", message: "is counted for wasm tools only" };
  }
  return undefined;
}

function isBoundName(name: string): name is keyof Bounds {
  return Object.hasOwn(BOUND_CEILINGS, name);
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
