import type { JsonObject } from "@narthex/contracts";
import { copySchema } from "../schema/copy-schema.ts";
import { Problems } from "../schema/problems.ts";
import type { DerivedFacts, Redactor, Tool } from "../tool/tool.ts";

/**
 * Creates a frozen copy of a tool, with its methods bound to the original.
 *
 * SECURITY: this copy is what is inspected, hashed and later decided on. Code that holds the original can change it,
 * but not the registered tool. Every tool's output is also searched for the kernel's own secrets.
 */
export function sealTool(tool: Tool, redactors: readonly Redactor[]): Tool {
  return Object.freeze({
    name: tool.name,
    version: tool.version,
    description: tool.description,
    source: tool.source,
    isolation: tool.isolation,
    inputSchema: sealSchema(tool.inputSchema),
    outputSchema: tool.outputSchema === undefined ? undefined : sealSchema(tool.outputSchema),
    resultType: tool.resultType,
    normalise: tool.normalise,
    effects: sealData(tool.effects),
    determinism: tool.determinism,
    tier: tool.tier,
    capabilities: sealData(tool.capabilities),
    bounds: sealData(tool.bounds),
    price: tool.price,
    ...(tool.labels && { labels: sealData(tool.labels) }),
    ...(tool.program && { program: sealData(tool.program) }),
    redactors: tool.redactors?.length ? sealRedactors([...tool.redactors, ...redactors]) : redactors,
    ...(tool.takesSecrets !== undefined && { takesSecrets: tool.takesSecrets }),
    ...(tool.changesByPrograms === true && { changesByPrograms: true }),
    ...(tool.endpoints && { endpoints: sealData(tool.endpoints) }),
    ...(tool.narrow && { narrow: tool.narrow.bind(tool) }),
    ...(tool.needsAnyOf && { needsAnyOf: sealData(tool.needsAnyOf) }),
    ...(tool.anyCase && { anyCase: sealData(tool.anyCase) }),
    ...(tool.action && { action: tool.action.bind(tool) }),
    ...(tool.actions && { actions: sealData(tool.actions) }),
    ...(tool.derived && { derived: sealDerived(tool.derived) }),
    ...(tool.needs && { needs: tool.needs.bind(tool) }),
    ...(tool.reserves && { reserves: tool.reserves.bind(tool) }),
    ...(tool.approvalScope && { approvalScope: tool.approvalScope.bind(tool) }),
    ...(tool.approvalFiles && { approvalFiles: tool.approvalFiles.bind(tool) }),
    ...(tool.canonicalInput && { canonicalInput: tool.canonicalInput.bind(tool) }),
    ...(tool.firstLine && { firstLine: tool.firstLine.bind(tool) }),
    ...(tool.textView && { textView: tool.textView.bind(tool) }),
    ...(tool.normaliseCustom && { normaliseCustom: tool.normaliseCustom.bind(tool) }),
    ...(tool.reconcile && { reconcile: tool.reconcile.bind(tool) }),
    ...(tool.checkInput && { checkInput: tool.checkInput.bind(tool) }),
    run: tool.run.bind(tool),
  });
}

/** Tools without redactors of their own share the kernel's list object. */
export function sealRedactors(redactors: readonly Redactor[]): readonly Redactor[] {
  return sealData(redactors);
}

function sealDerived(derived: DerivedFacts): DerivedFacts {
  return Object.freeze({ schema: sealData(derived.schema), of: derived.of.bind(derived) });
}

/** Throws INVALID_DECLARATION for a value that is not a schema. */
function sealSchema(schema: JsonObject | boolean): JsonObject | boolean {
  const problems = new Problems("schema");
  const copy = copySchema(schema, problems);
  problems.throwIfAny();
  return copy ?? false;
}

function sealData<T>(data: T): T {
  return freezeDeep(structuredClone(data));
}

function freezeDeep<T>(data: T): T {
  if (typeof data !== "object" || data === null) return data;
  for (const value of Object.values(data)) freezeDeep(value);
  return Object.freeze(data);
}
