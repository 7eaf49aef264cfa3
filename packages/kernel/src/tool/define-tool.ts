import {
  DEFAULT_TIMEOUT_MS,
  DEFAULT_VIEW_BYTES,
  type JsonObject,
  type JsonValue,
  KernelError,
} from "@narthex/contracts";
import type { Static, TSchema } from "typebox";
import type { ApprovalScope } from "../approval/approval-scope.ts";
import type { Capability } from "../capability/capability.ts";
import { copySchema } from "../schema/copy-schema.ts";
import { Problems } from "../schema/problems.ts";
import type { ViewPart } from "../result/view-part.ts";
import { findUnknownOptions, type OptionNames, refuseOptions, requireObject } from "../refuse-unknown-options.ts";
import { naturalRule } from "./declaration-rules.ts";
import type { DefinedTool } from "./defined-tool.ts";
import { parseStandard, toJsonSchema } from "./read-standard-schema.ts";
import { isStandardSchema, type StandardInput, type StandardOutput, type StandardSchema } from "./standard-schema.ts";
import type {
  Bounds,
  Determinism,
  Effect,
  Isolation,
  Narrowing,
  Reconciliation,
  ReconcileContext,
  Redactor,
  ResultType,
  SafetyTier,
  Spending,
  Tool,
  ToolContext,
  ToolDeclaration,
  ToolOutput,
  ToolSession,
  ToolSource,
  UnsettledIntent,
} from "./tool.ts";

/**
 * JSON Schema 2020-12 as a literal object, built with typebox, or `true` for any JSON; or a zod, valibot or arktype
 * schema. All of them determine the static types.
 */
export type SchemaSource = TSchema | boolean | StandardSchema;

/** The TypeScript type of `run`'s input for a schema. */
export type SchemaOutput<S> = S extends boolean
  ? JsonValue
  : S extends StandardSchema
    ? StandardOutput<S>
    : S extends TSchema
      ? Known<Static<S>>
      : JsonValue;

/** The TypeScript type of a caller's input. For a schema library, the type before defaults and transforms. */
export type SchemaInput<S> = S extends StandardSchema ? StandardInput<S> : SchemaOutput<S>;

/** The return type of `run`, by the result type and, for JSON, by the output schema. */
export type OutputOf<R extends ResultType, O> = R extends "binary"
  ? Uint8Array
  : R extends "stream"
    ? AsyncIterable<Uint8Array>
    : R extends "string"
      ? string
      : O extends SchemaSource
        ? SchemaInput<O>
        : R extends "object"
          ? JsonObject
          : R extends "array"
            ? JsonValue[]
            : JsonValue;

/** The type of a result's value for callers. */
export type ResultOf<R extends ResultType, O> = R extends "stream"
  ? Uint8Array
  : R extends "json" | "object" | "array"
    ? O extends StandardSchema
      ? StandardOutput<O>
      : OutputOf<R, O>
    : OutputOf<R, O>;

/**
 * A tool as its author writes it. The comments of optional properties state their defaults.
 *
 * Types are inferred from the schemas alone, never from the parameters and return type of `run`: inferring a schema
 * from those added seconds of compile time to every program.
 */
export interface ToolDefinition<
  I extends SchemaSource,
  O extends SchemaSource | undefined,
  R extends ResultType,
  N extends string = string,
> {
  readonly name: N;
  /** For a model: what the tool does, when to use it, what it returns. */
  readonly description: string;
  /** Default: `1.0.0`. */
  readonly version?: string;
  readonly inputSchema: I;
  readonly outputSchema?: O;
  /** Default: `json`. */
  readonly resultType?: R;
  /** Default: `json` for JSON results, `binary` for text and bytes, `custom` with a `normaliseCustom`. */
  readonly normalise?: ToolDeclaration["normalise"];
  /** Default: none. */
  readonly effects?: readonly Effect[];
  /** Default: `nondeterministic`, the only safe assumption about unknown code. */
  readonly determinism?: Determinism;
  /** Default: `side_effecting`. Set `read_only` if the tool changes nothing. */
  readonly tier?: SafetyTier;
  /** Default: none. */
  readonly capabilities?: readonly Capability[];
  /** Default: 30 s, and 16 KiB shown to a model. */
  readonly bounds?: Partial<Bounds>;
  /** Default: 1 cost unit. */
  readonly price?: number;
  /** Default: `embedder`. */
  readonly source?: ToolSource;
  /** Default: `inline`. */
  readonly isolation?: Isolation;
  /** Default: none of its own. */
  readonly labels?: readonly string[];
  readonly redactors?: readonly Redactor[];
  /** Default: false. */
  readonly takesSecrets?: boolean;
  /** Default: false. */
  readonly changesByPrograms?: boolean;
  narrow?(input: NoInfer<SchemaInput<I>>): Narrowing;
  readonly needsAnyOf?: Tool["needsAnyOf"];
  readonly anyCase?: Tool["anyCase"];
  action?(input: NoInfer<SchemaInput<I>>): string;
  readonly actions?: readonly string[];
  readonly derived?: { readonly schema: JsonObject; of(input: NoInfer<SchemaInput<I>>): JsonObject };
  needs?(input: NoInfer<SchemaInput<I>>, session: ToolSession): readonly Capability[];
  reserves?(input: NoInfer<SchemaInput<I>>): Spending;
  approvalScope?(input: NoInfer<SchemaInput<I>>, session: ToolSession): ApprovalScope | undefined;
  approvalFiles?(input: NoInfer<SchemaInput<I>>, session: ToolSession): readonly string[];
  canonicalInput?(input: NoInfer<SchemaInput<I>>): JsonValue;
  firstLine?(input: NoInfer<SchemaInput<I>>): number | undefined;
  /** By default JSON results are shown as JSON. */
  textView?(output: NoInfer<OutputOf<R, O>>): readonly ViewPart[];
  normaliseCustom?(output: NoInfer<OutputOf<R, O>>): Uint8Array;
  reconcile?(intent: UnsettledIntent, context: ReconcileContext): Promise<Reconciliation>;
  run(
    input: NoInfer<SchemaOutput<I>>,
    context: ToolContext,
  ): Promise<NoInfer<OutputOf<R, O>>> | NoInfer<OutputOf<R, O>>;
}

/** All properties of a definition. */
export const DEFINITION_NAMES: OptionNames<AnyDefinition> = {
  name: true,
  description: true,
  version: true,
  inputSchema: true,
  outputSchema: true,
  resultType: true,
  normalise: true,
  effects: true,
  determinism: true,
  tier: true,
  capabilities: true,
  bounds: true,
  price: true,
  source: true,
  isolation: true,
  labels: true,
  redactors: true,
  takesSecrets: true,
  changesByPrograms: true,
  narrow: true,
  needsAnyOf: true,
  anyCase: true,
  action: true,
  actions: true,
  derived: true,
  needs: true,
  reserves: true,
  approvalScope: true,
  approvalFiles: true,
  canonicalInput: true,
  firstLine: true,
  textView: true,
  normaliseCustom: true,
  reconcile: true,
  run: true,
};

/**
 * Defines a tool. `run` receives the type that the input schema describes and must return the one that the output
 * schema describes. For a schema library, the schema's JSON Schema is declared and checked first; then the library's
 * own validator runs, and `run` receives its output. Everything that decides about a call sees the original JSON.
 * Contradictions in the definition are reported when the tool is registered. Throws INVALID_DECLARATION if no tool can
 * be created from it.
 */
export function defineTool<
  const I extends SchemaSource,
  const O extends SchemaSource | undefined = undefined,
  const R extends ResultType = "json",
  const N extends string = string,
>(definition: ToolDefinition<I, O, R, N>): DefinedTool<N, SchemaInput<I>, ResultOf<R, O>> {
  // SECURITY: a misspelt `effects` would require no capability, a misspelt `redactors` would hide nothing.
  const given = requireObject(definition, "defineTool", "INVALID_DECLARATION");
  refuseOptions(findUnknownOptions(given, Object.keys(DEFINITION_NAMES)), "defineTool", "INVALID_DECLARATION");
  const resultType = definition.resultType ?? "json";
  // INVARIANT: the kernel calls this code only with input that passed the input schema, so the input has the schema's
  // type. Cast through `unknown`, because comparing the two types takes the compiler seconds.
  const code = bindCode(definition as unknown as AnyDefinition);
  const rule = definition.normaliseCustom === undefined ? naturalRule(resultType) : "custom";
  return {
    name: definition.name,
    version: definition.version ?? "1.0.0",
    description: definition.description,
    source: definition.source ?? "embedder",
    isolation: definition.isolation ?? "inline",
    inputSchema: plainSchema(definition.inputSchema, "inputSchema"),
    outputSchema:
      definition.outputSchema === undefined ? undefined : plainSchema(definition.outputSchema, "outputSchema"),
    resultType,
    normalise: definition.normalise ?? rule,
    effects: definition.effects ?? [],
    determinism: definition.determinism ?? "nondeterministic",
    tier: definition.tier ?? "side_effecting",
    capabilities: definition.capabilities ?? [],
    bounds: boundsOf(definition.bounds ?? {}),
    price: definition.price ?? 1,
    ...(definition.labels && { labels: definition.labels }),
    ...(definition.redactors && { redactors: definition.redactors }),
    ...(definition.takesSecrets !== undefined && { takesSecrets: definition.takesSecrets }),
    ...(definition.changesByPrograms === true && { changesByPrograms: true }),
    ...(definition.needsAnyOf && { needsAnyOf: definition.needsAnyOf }),
    ...(definition.anyCase && { anyCase: definition.anyCase }),
    ...(definition.actions && { actions: definition.actions }),
    ...code,
  };
}

/** A value that is not an object is passed on unchanged, to be reported at registration: spreading it would hide it. */
function boundsOf(given: Partial<Bounds>): Bounds {
  const bounds = { timeoutMs: DEFAULT_TIMEOUT_MS, maxOutputBytes: DEFAULT_VIEW_BYTES, ...given };
  return typeof given === "object" ? bounds : given;
}

type ToolCode = Pick<
  Tool,
  | "narrow"
  | "action"
  | "derived"
  | "needs"
  | "reserves"
  | "approvalScope"
  | "approvalFiles"
  | "canonicalInput"
  | "firstLine"
  | "textView"
  | "normaliseCustom"
  | "reconcile"
  | "checkInput"
  | "run"
>;

/** A definition with unknown schemas, whose code takes and returns any JSON. */
type AnyDefinition = ToolDefinition<true, undefined, ResultType>;

function bindCode(definition: AnyDefinition): ToolCode {
  const { narrow, action, derived, needs, reserves, approvalScope, approvalFiles } = definition;
  const { canonicalInput, firstLine, textView, normaliseCustom, reconcile, run } = definition;
  return {
    ...(narrow && { narrow: bound(narrow, definition) }),
    ...(action && { action: bound(action, definition) }),
    ...(derived && { derived: { schema: derived.schema, of: bound(derived.of, derived) } }),
    ...(needs && { needs: bound(needs, definition) }),
    ...(reserves && { reserves: bound(reserves, definition) }),
    ...(approvalScope && { approvalScope: bound(approvalScope, definition) }),
    ...(approvalFiles && { approvalFiles: bound(approvalFiles, definition) }),
    ...(canonicalInput && { canonicalInput: bound(canonicalInput, definition) }),
    ...(firstLine && { firstLine: bound(firstLine, definition) }),
    ...(textView && { textView: bound(textView, definition) }),
    ...(normaliseCustom && { normaliseCustom: bound(normaliseCustom, definition) }),
    ...(reconcile && { reconcile: bound(reconcile, definition) }),
    ...validatedCode(definition, bound(run, definition)),
  };
}

/**
 * Wraps the tool's code with the validators of a schema library.
 *
 * SECURITY: a validator receives a copy: if it modifies its input, policy and people must still see the original.
 */
function validatedCode(
  { name, inputSchema, outputSchema, resultType }: AnyDefinition,
  run: Tool["run"],
): Pick<Tool, "checkInput" | "run"> {
  const [given, promised]: readonly unknown[] = [inputSchema, outputSchema];
  if (isStandardSchema(promised) && resultType === "stream") {
    throw new KernelError("INVALID_DECLARATION", "outputSchema: of a stream only JSON Schema can be checked");
  }
  const parseOutput = (output: ToolOutput): ToolOutput =>
    // The validator's output is checked against the JSON Schema later, when it is stored.
    parseStandard(promised as StandardSchema, output, { code: "INVALID_OUTPUT", subject: name }) as ToolOutput;
  const answer: Tool["run"] = !isStandardSchema(promised)
    ? run
    : (input, context) => {
        const output = run(input, context);
        return isThenable(output) ? output.then(parseOutput) : parseOutput(output);
      };
  if (!isStandardSchema(given)) return { run: answer };
  const parseInput = (input: JsonValue): unknown =>
    parseStandard(given, structuredClone(input), { code: "INVALID_INPUT", subject: name });
  return {
    checkInput: (input) => void parseInput(input),
    // The input type of `run` is inferred from the same schema.
    run: (input, context) => answer(parseInput(input) as JsonValue, context),
  };
}

function isThenable(output: Promise<ToolOutput> | ToolOutput): output is Promise<ToolOutput> {
  return typeof output === "object" && output !== null && "then" in output && typeof output.then === "function";
}

/** Binds a function to its owner. Any other value is returned unchanged, to be reported at registration. */
function bound<F extends (...given: never[]) => unknown>(code: F, owner: object): F {
  // Binding does not change a function's parameters and return type.
  return typeof code === "function" ? (code.bind(owner) as F) : code;
}

/** Copies a schema to plain, frozen JSON without typebox's hidden markers. Throws INVALID_DECLARATION. */
function plainSchema(schema: SchemaSource, name: "inputSchema" | "outputSchema"): JsonObject | boolean {
  const problems = new Problems(name);
  const plain = copySchema(isStandardSchema(schema) ? toJsonSchema(schema, name) : schema, problems);
  problems.throwIfAny();
  return plain ?? false;
}

/** Maps `unknown` and `any`, inferred from a schema without constraints, to any JSON. */
type Known<T> = unknown extends T ? JsonValue : T;
