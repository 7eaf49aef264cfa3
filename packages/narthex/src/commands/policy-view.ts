import { type JsonObject, type PolicyInfo, PolicyInfoSchema, toHex } from "@narthex/contracts";
import { messageToJson } from "../terminal/message-json.ts";
import { renderFacts } from "../terminal/table.ts";

export function policyToJson(policy: PolicyInfo): JsonObject {
  return messageToJson(PolicyInfoSchema, policy);
}

/** Renders the policy in force, or the reason why none is in force. */
export function renderPolicy(policy: PolicyInfo, width: number | undefined): string[] {
  const { problem, mode, directory, engine, fallback, ruleCount, policyHash, schemaHash, warnings } = policy;
  const inForce: readonly (readonly [string, string])[] = [
    ["rules", String(ruleCount)],
    ["engine", fallback === "" ? engine : `${engine}, because of ${fallback}`],
    ["policy hash", toHex(policyHash)],
    ["schema hash", toHex(schemaHash)],
  ];
  return renderFacts(
    [
      ["policy", problem === "" ? "in force" : "none: every call is denied"],
      ...(problem === "" ? inForce : [["problem", problem] as const]),
      ["mode", mode === "observe" ? "observe: refusals by rules are recorded, not carried out" : mode],
      ...warnings.map((warning) => ["warning", warning] as const),
      ["directory", directory || "none: the rules were given in code"],
    ],
    width,
  );
}
