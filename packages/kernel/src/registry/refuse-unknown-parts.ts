import { findUnknownOptions, type OptionNames, refuseOptions, requireObject } from "../refuse-unknown-options.ts";
import { DEFINITION_NAMES } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";

const PARTS: OptionNames<Tool> = { ...DEFINITION_NAMES, program: true, endpoints: true, checkInput: true };

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
