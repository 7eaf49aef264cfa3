import { findUnknownOptions, type OptionNames, refuseOptions, requireObject } from "../refuse-unknown-options.ts";
import { DEFINITION_NAMES } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";

const PARTS: OptionNames<Tool> = { ...DEFINITION_NAMES, program: true, endpoints: true, checkInput: true };

/**
 * Throws INVALID_DECLARATION for a value that is not a tool, or for a tool with unknown fields.
 *
 * SECURITY: the registered tool is a copy of the known fields. A misspelt field would be dropped silently, such as
 * effects that need a right or redactors that hide secrets.
 */
export function refuseUnknownParts(tool: Tool): void {
  const given = requireObject(tool, "a tool", "INVALID_DECLARATION");
  refuseOptions(findUnknownOptions(given, Object.keys(PARTS)), "a tool", "INVALID_DECLARATION");
}
