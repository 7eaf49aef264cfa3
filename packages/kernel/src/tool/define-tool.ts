import { DEFAULT_TIMEOUT_MS, DEFAULT_VIEW_BYTES, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { Static, TSchema } from "typebox";
import type { ApprovalScope } from "../approval/approval-scope.ts";
import type { Capability } from "../capability/capability.ts";
import { copySchema } from "../schema/copy-schema.ts";
import { Problems } from "../schema/problems.ts";
import { naturalRule } from "./declaration-rules.ts";
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
  ToolSession,
  ToolSource,
  UnsettledIntent,
} from "./tool.ts";

/** JSON Schema 2020-12: a literal object, one built with typebox, or `true` for any JSON. Types follow from either. */
export type SchemaSource = TSchema | boolean;

/** The TypeScript type of the values a schema accepts. */
export type ValueOf<S> = S extends boolean ? JsonValue : S extends TSchema ? Known<Static<S>> : JsonValue;

/** What `run` answers, by the kind of result and, for JSON, by the output schema. */
export type OutputOf<R extends ResultType, O> = R extends "binary"
  ? Uint8Array
  : R extends "stream"
    ? AsyncIterable<Uint8Array>
    : R extends "string"
      ? string
      : O extends SchemaSource
        ? ValueOf<O>
        : R extends "object"
          ? JsonObject
          : R extends "array"
            ? JsonValue[]
            : JsonValue;

/**
 * A tool as its author writes it. Everything optional has the default named beside it.
 *
 * Types follow from the schemas alone, never from what `run` takes and answers: to look for a schema there took a
 * compiler seconds in every program.
 */
export interface ToolDefinition<I extends SchemaSource, O extends SchemaSource | undefined, R extends ResultType> {
  readonly name: string;
  /** For a model: what the tool does, when to use it, what it answers. */
  readonly description: string;
  /** `1.0.0`. */
  readonly version?: string;
  readonly inputSchema: I;
  readonly outputSchema?: O;
  /** `json`. */
  readonly resultType?: R;
  /** `json` for JSON results, `binary` for text and bytes; `custom` where there is a `normaliseCustom`. */
  readonly normalise?: ToolDeclaration["normalise"];
  /** None. */
  readonly effects?: readonly Effect[];
  /** `nondeterministic`: the most that can be said of unknown code. */
  readonly determinism?: Determinism;
  /** `side_effecting`: say `read_only` of what changes nothing. */
  readonly tier?: SafetyTier;
  /** None. */
  readonly capabilities?: readonly Capability[];
  /** 30 s, and 16 KiB shown to a model. */
  readonly bounds?: Partial<Bounds>;
  /** 1 cost unit. */
  readonly price?: number;
  /** `embedder`. */
  readonly source?: ToolSource;
  /** `inline`. */
  readonly isolation?: Isolation;
  /** None of its own. */
  readonly labels?: readonly string[];
  readonly redactors?: readonly Redactor[];
  /** No. */
  readonly takesSecrets?: boolean;
  narrow?(input: NoInfer<ValueOf<I>>): Narrowing;
  action?(input: NoInfer<ValueOf<I>>): string;
  readonly actions?: readonly string[];
  readonly derived?: { readonly schema: JsonObject; of(input: NoInfer<ValueOf<I>>): JsonObject };
  needs?(input: NoInfer<ValueOf<I>>, session: ToolSession): readonly Capability[];
  reserves?(input: NoInfer<ValueOf<I>>): Spending;
  approvalScope?(input: NoInfer<ValueOf<I>>, session: ToolSession): ApprovalScope | undefined;
  canonicalInput?(input: NoInfer<ValueOf<I>>): JsonValue;
  firstLine?(input: NoInfer<ValueOf<I>>): number | undefined;
  normaliseCustom?(output: NoInfer<OutputOf<R, O>>): Uint8Array;
  reconcile?(intent: UnsettledIntent, context: ReconcileContext): Promise<Reconciliation>;
  run(input: NoInfer<ValueOf<I>>, context: ToolContext): Promise<NoInfer<OutputOf<R, O>>> | NoInfer<OutputOf<R, O>>;
}

/**
 * Makes a tool whose `run` sees the type its input schema describes and must answer what its output schema promises.
 * Contradictions in it are found when it is registered.
 */
export function defineTool<
  const I extends SchemaSource,
  const O extends SchemaSource | undefined = undefined,
  const R extends ResultType = "json",
>(definition: ToolDefinition<I, O, R>): Tool {
  const resultType = definition.resultType ?? "json";
  // INVARIANT: the kernel calls its code only with input that passed the input schema, so its type is what that says.
  // By way of `unknown`: to compare the two takes a compiler seconds.
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
    bounds: { timeoutMs: DEFAULT_TIMEOUT_MS, maxOutputBytes: DEFAULT_VIEW_BYTES, ...definition.bounds },
    price: definition.price ?? 1,
    ...(definition.labels && { labels: definition.labels }),
    ...(definition.redactors && { redactors: definition.redactors }),
    ...(definition.takesSecrets === true && { takesSecrets: true }),
    ...(definition.actions && { actions: definition.actions }),
    ...code,
  };
}

type ToolCode = Pick<
  Tool,
  | "narrow"
  | "action"
  | "derived"
  | "needs"
  | "reserves"
  | "approvalScope"
  | "canonicalInput"
  | "firstLine"
  | "normaliseCustom"
  | "reconcile"
  | "run"
>;

/** A definition of whose schemas nothing is known: its code takes and answers any JSON. */
type AnyDefinition = ToolDefinition<true, undefined, ResultType>;

function bindCode(definition: AnyDefinition): ToolCode {
  const { narrow, action, derived, needs, reserves, approvalScope } = definition;
  const { canonicalInput, firstLine, normaliseCustom, reconcile, run } = definition;
  return {
    ...(narrow && { narrow: narrow.bind(definition) }),
    ...(action && { action: action.bind(definition) }),
    ...(derived && { derived: { schema: derived.schema, of: (input: JsonValue) => derived.of(input) } }),
    ...(needs && { needs: needs.bind(definition) }),
    ...(reserves && { reserves: reserves.bind(definition) }),
    ...(approvalScope && { approvalScope: approvalScope.bind(definition) }),
    ...(canonicalInput && { canonicalInput: canonicalInput.bind(definition) }),
    ...(firstLine && { firstLine: firstLine.bind(definition) }),
    ...(normaliseCustom && { normaliseCustom: normaliseCustom.bind(definition) }),
    ...(reconcile && { reconcile: reconcile.bind(definition) }),
    run: run.bind(definition),
  };
}

/** typebox objects carry hidden marks; a declaration holds plain, frozen JSON. Throws INVALID_DECLARATION. */
function plainSchema(schema: SchemaSource, name: string): JsonObject | boolean {
  const problems = new Problems(name);
  const plain = copySchema(schema, problems);
  problems.throwIfAny();
  return plain ?? false;
}

/** `unknown` and `any`, which a schema without constraints gives, mean any JSON here. */
type Known<T> = unknown extends T ? JsonValue : T;
