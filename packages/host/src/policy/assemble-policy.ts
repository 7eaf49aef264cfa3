import { blake3, isKernelError } from "@narthex/contracts";
import {
  type CedarEngine,
  compileCedar,
  createNoPolicy,
  createPolicy,
  type Policy,
  type PolicyFile,
  type PolicySchema,
  type PolicyTool,
  policyInvalid,
  policySchema,
  type Tool,
  type VariantTool,
} from "@narthex/kernel";
import { explainRules } from "./explain-rules.ts";
import { loadCachedSet, type PolicyLoadOptions } from "./policy-set-cache.ts";
import type { LoadedPolicySet } from "./load-policy-set.ts";
import { reviewRules } from "./review-rules.ts";
import { createCedarWasmEngine } from "./cedar-wasm-engine.ts";

/** Creates the schema against which the rules of a kernel with these tools are validated. */
export function schemaForTools(tools: readonly Tool[], unusable: readonly string[] = []): PolicySchema {
  return policySchema([...policyTools(tools), ...absentTools(tools, unusable)]);
}

/**
 * Declares tools that are installed in the home but cannot be used now. Rules may refer to them: one broken tool must
 * not make the whole policy invalid. Their input is unknown.
 */
function absentTools(tools: readonly Tool[], names: readonly string[]): PolicyTool[] {
  const known = new Set(tools.map(({ name }) => name));
  return [...new Set(names)]
    .filter((name) => !known.has(name))
    .map((name) => ({ declaration: { name, inputSchema: {}, capabilities: ANY_CAPABILITY } }));
}

const ANY_CAPABILITY: PolicyTool["declaration"]["capabilities"] = [
  { kind: "fs_read", prefixes: [] },
  { kind: "net_read", hosts: [] },
  { kind: "exec", names: [] },
  { kind: "db_read", names: [] },
];

/**
 * Describes tools for the policy schema. Arguments of a tool with its own canonical form are omitted: the ledger does
 * not store them as sent, so rules cannot see them.
 */
export function policyTools(tools: readonly Tool[]): PolicyTool[] {
  return tools.map(({ name, capabilities, inputSchema, canonicalInput, actions, derived }) => ({
    declaration: { name, capabilities, inputSchema: canonicalInput === undefined ? inputSchema : {} },
    actions,
    facts: derived?.schema,
  }));
}

/** Input for comparing valid rules with each other. */
export interface PolicyReview {
  readonly tools: readonly VariantTool[];
  /** Files in which an ineffective rule is an error; in other files it is a warning. */
  readonly strictFiles: ReadonlySet<string>;
}

/**
 * Assembles a policy from its files. Throws POLICY_INVALID with every problem. Without a review the set has no
 * warnings.
 */
export async function assemblePolicy(
  files: readonly PolicyFile[],
  schema: PolicySchema,
  loading: PolicyLoadOptions = {},
  review?: PolicyReview,
): Promise<Policy> {
  const loaded = await loadCachedSet(files, schema, loading);
  const warnings = review === undefined ? [] : warningsOf(loaded, schema, review);
  const { engine, fallback } = await engineFor(loaded, schema);
  return createPolicy({
    set: {
      hash: blake3(loaded.bytes),
      schemaHash: schema.hash,
      engine: engine.name,
      fallback,
      ruleCount: loaded.rules.length,
      warnings,
      bytes: loaded.bytes,
      schemaBytes: schema.bytes,
    },
    rules: loaded.rules,
    policies: loaded.policies,
    schema,
    engine,
    explain: (request) => explainRules(loaded, schema, request),
  });
}

function warningsOf(loaded: LoadedPolicySet, schema: PolicySchema, { tools, strictFiles }: PolicyReview): string[] {
  const remarks = reviewRules(loaded, schema, tools);
  const errors = remarks
    .filter(({ file, isAdvice }) => !isAdvice && strictFiles.has(file))
    .map(({ violation }) => violation);
  if (errors.length > 0) throw policyInvalid(errors);
  return remarks.map(({ violation: { field, message } }) => (field === "" ? message : `${field}: ${message}`));
}

/**
 * As `assemblePolicy`, for kernel startup: an unusable policy becomes one that denies everything and gives the reason.
 * A mistake in the strict files, which the embedding program wrote, is thrown instead.
 */
export async function assemblePolicyOrNone(
  read: () => Promise<readonly PolicyFile[]>,
  schema: PolicySchema,
  loading: PolicyLoadOptions,
  review: PolicyReview,
): Promise<Policy> {
  try {
    return await assemblePolicy(await read(), schema, loading, review);
  } catch (fault) {
    if (isKernelError(fault) && fault.violations.some(({ field }) => isIn(field, review.strictFiles))) throw fault;
    if (isKernelError(fault) && fault.code === "POLICY_INVALID") return createNoPolicy(fault.message);
    const problem = fault instanceof Error ? fault.message : String(fault);
    return createNoPolicy(`the policy directory cannot be read: ${problem}`);
  }
}

/** Whether a place is in one of these files. */
function isIn(place: string, files: ReadonlySet<string>): boolean {
  return files.has(place.replace(/:[0-9]+:[0-9]+$/, ""));
}

/** Creates the compiled evaluator, or falls back to Cedar itself for a set that it does not support. */
export async function engineFor(
  loaded: LoadedPolicySet,
  schema: PolicySchema,
): Promise<{ readonly engine: CedarEngine; readonly fallback: string }> {
  const groups = new Map(schema.actions.map((action) => [action, schema.groupsOf(action).slice(1)]));
  const { engine, unsupported } = compileCedar(loaded.policies, groups);
  if (engine !== undefined) return { engine, fallback: "" };
  const fallback = `rule \`${unsupported.rule}\`: ${unsupported.message}`;
  return { engine: await createCedarWasmEngine(loaded, schema), fallback };
}
