import type { Violation } from "@narthex/contracts";
import { findUnknownOptions, refuseOptions, requireObject } from "./refuse-unknown-options.ts";

/** Type of an option; a trailing question mark makes it optional. */
export type OptionKind = Kind | `${Kind}?`;

/** The required type of each field. */
export type OptionKinds<T> = Readonly<Record<keyof T, OptionKind | readonly string[]>>;

const KINDS = {
  any: { fits: () => true, message: "must be given" },
  text: { fits: (value: unknown) => typeof value === "string", message: "must be text" },
  flag: { fits: (value: unknown) => typeof value === "boolean", message: "must be true or false" },
  /** A number of milliseconds, bytes or records; infinity means no limit. */
  amount: { fits: (value: unknown) => typeof value === "number" && value >= 0, message: "must be a number from 0 on" },
  bytes: { fits: (value: unknown) => value instanceof Uint8Array, message: "must be bytes" },
  list: { fits: (value: unknown) => Array.isArray(value), message: "must be a list" },
  texts: {
    fits: (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === "string"),
    message: "must be a list of texts",
  },
  object: { fits: (value: unknown) => typeof value === "object" && value !== null, message: "must be an object" },
  signal: { fits: (value: unknown) => value instanceof AbortSignal, message: "must be an AbortSignal" },
  function: { fits: (value: unknown) => typeof value === "function", message: "must be a function" },
} as const;
type Kind = keyof typeof KINDS;

/** The check of one option. */
interface Rule {
  readonly field: string;
  readonly message: string;
  fits(value: unknown): boolean;
}

interface Rules {
  readonly rules: ReadonlyMap<string, Rule>;
  /** The options that are not optional. */
  readonly required: readonly Rule[];
}

/** Cached per table, because some tables are used in every call. */
const rulesOf = new WeakMap<object, Rules>();

/**
 * Throws INVALID_INPUT with every option that is unknown, missing or of another type. A list of words instead of a kind
 * names the allowed values.
 *
 * SECURITY: an option that is not understood must never change what happens: a decision other than `deny` is not an
 * approval, and a misspelt `dryRun` does not erase.
 */
export function checkOptions<T extends object>(options: T, kinds: OptionKinds<T>, what: string): void {
  const given = requireObject(options, what);
  const { rules, required } = rulesOf.get(kinds) ?? makeRules(kinds);
  let violations: Violation[] | undefined;
  for (const field of Object.keys(given)) {
    const rule = rules.get(field);
    if (rule === undefined) (violations ??= []).push(...findUnknownOptions({ [field]: true }, [...rules.keys()]));
    else if (!rule.fits(Reflect.get(given, field))) (violations ??= []).push(violationOf(rule, "format"));
  }
  for (const rule of required) {
    if (!Object.hasOwn(given, rule.field)) (violations ??= []).push(violationOf(rule, "required"));
  }
  if (violations !== undefined) refuseOptions(violations, what);
}

function violationOf({ field, message }: Rule, rule: "format" | "required"): Violation {
  return { field, rule, message };
}

function makeRules(kinds: Readonly<Record<string, OptionKind | readonly string[]>>): Rules {
  const rules = new Map(Object.entries(kinds).map(([field, kind]) => [field, { field, ...ruleOf(kind) }]));
  const made = { rules, required: [...rules.values()].filter(({ fits }) => !fits(undefined)) };
  rulesOf.set(kinds, made);
  return made;
}

function ruleOf(kind: OptionKind | readonly string[]): Omit<Rule, "field"> {
  if (typeof kind !== "string") {
    const words: readonly unknown[] = kind;
    return { message: `must be one of ${kind.join(", ")}`, fits: (value) => words.includes(value) };
  }
  const canBeLeftOut = kind.endsWith("?");
  // Without its question mark the text is one of the kinds.
  const { fits, message } = KINDS[(canBeLeftOut ? kind.slice(0, -1) : kind) as Kind];
  return { message, fits: (value) => (value === undefined ? canBeLeftOut : fits(value)) };
}
