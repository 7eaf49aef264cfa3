import type { CandidateTool } from "@narthex/host";

/** The rule that permits an added tool. A person is asked before each call of a privileged one. */
export function createToolRule({ name, tier }: CandidateTool["declaration"]): string {
  const approve = tier === "privileged" ? "human" : "none";
  return `@id("${toolRuleId(name)}")\n@approve("${approve}")\npermit(principal, action == Action::"${name}", resource);\n`;
}

/** The file in the policy directory that `tools add --allow` writes. */
export function toolRuleFile(name: string): string {
  return `${toolRuleId(name)}.cedar`;
}

function toolRuleId(name: string): string {
  return `tool-${name.replaceAll("_", "-")}`;
}
