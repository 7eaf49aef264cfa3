import { findUnknownOptions, type OptionNames, refuseOptions, requireObject } from "../refuse-unknown-options.ts";
import type { Tool } from "../tool/tool.ts";

const PARTS: OptionNames<Tool> = {
  name: true,
  version: true,
  description: true,
  source: true,
  isolation: true,
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
  labels: true,
  program: true,
  redactors: true,
  takesSecrets: true,
  endpoints: true,
  narrow: true,
  action: true,
  actions: true,
  derived: true,
  needs: true,
  reserves: true,
  approvalScope: true,
  canonicalInput: true,
  firstLine: true,
  normaliseCustom: true,
  reconcile: true,
  run: true,
};

/**
 * Throws INVALID_DECLARATION for what is no tool, or has a part that nobody knows.
 *
 * SECURITY: what is registered is a copy of the parts that are known. One that is misspelt would be left out: effects
 * that need a right, redactors that hide something.
 */
export function refuseUnknownParts(tool: Tool): void {
  const given = requireObject(tool, "a tool", "INVALID_DECLARATION");
  refuseOptions(findUnknownOptions(given, Object.keys(PARTS)), "a tool", "INVALID_DECLARATION");
}
