import type { BudgetDimension } from "../../budget/budget.ts";
import { BUDGET_DIMENSIONS } from "../../budget/budget.ts";
import type { CapabilityKind } from "../../capability/capability.ts";
import type { ToolDeclaration } from "../../tool/tool.ts";
import {
  BOOL,
  EMPTY_RECORD,
  LONG,
  optional,
  type RecordShape,
  recordShape,
  required,
  type ShapeAttribute,
  STRING,
  STRINGS,
} from "./cedar-shape.ts";

const BUDGET: RecordShape = recordShape(BUDGET_DIMENSIONS.map((name: BudgetDimension) => optional(name, LONG)));

/** Attributes present for every action. SPEC: docs/formats/policy.md. */
const ALWAYS: readonly ShapeAttribute[] = [
  required("tool", STRING),
  required("version", STRING),
  required("source", STRING),
  required("isolation", STRING),
  required("definition_hash", STRING),
  required("input_digest", STRING),
  required("effects", STRINGS),
  required("tier", STRING),
  required("determinism", STRING),
  required("labels", STRINGS),
  required("directory", STRING),
  required("calls", LONG),
  required("time_ms", LONG),
  required("budget", BUDGET),
];

const FILES: readonly ShapeAttribute[] = [required("path", STRING), required("writes", BOOL)];

/**
 * Attributes added by a tool's capabilities. The network attributes are optional: a call that reaches no host has none.
 */
const BY_CAPABILITY: readonly (readonly [readonly CapabilityKind[], readonly ShapeAttribute[]])[] = [
  [["fs_read", "fs_write"], FILES],
  [
    ["net_read", "net_write"],
    [optional("host", STRING), optional("port", LONG), optional("sends", BOOL)],
  ],
  [["exec"], [required("programs", STRINGS)]],
  [["db_read", "db_write"], [required("tables", STRINGS)]],
];

/** Reserved names, which a tool's derived facts cannot use. */
export const CONTEXT_NAMES: ReadonlySet<string> = new Set(
  [ALWAYS, ...BY_CAPABILITY.map(([, attributes]) => attributes), [required("input", EMPTY_RECORD)]].flatMap(
    (attributes) => attributes.map(({ name }) => name),
  ),
);

/** Context of requests to write a protected path, the same for all tools. */
export const PROTECTED_CONTEXT: RecordShape = recordShape([...ALWAYS, ...FILES, required("input", EMPTY_RECORD)]);

/** The context of a tool's calls: the common attributes, those of its capabilities, its derived facts and its input. */
export function contextShape(
  versions: readonly Pick<ToolDeclaration, "capabilities">[],
  input: RecordShape,
  facts: RecordShape,
): RecordShape {
  const added = BY_CAPABILITY.flatMap(([kinds, attributes]) => {
    const count = versions.filter(({ capabilities }) => capabilities.some(({ kind }) => kinds.includes(kind))).length;
    if (count === 0) return [];
    return attributes.map((attribute) => ({ ...attribute, required: attribute.required && count === versions.length }));
  });
  return recordShape([...facts.attributes, ...ALWAYS, ...added, required("input", input)]);
}
