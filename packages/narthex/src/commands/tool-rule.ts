import type { CandidateTool } from "@narthex/host";

/** Creates the rule that permits an added tool. Each call of a privileged tool needs an approval. */
export function createToolRule({ name, tier }: CandidateTool["declaration"]): string {
  const approve = tier === "privileged" ? "human" : "none";
  return `@id("${toolRuleId(name)}")\n@approve("${approve}")\npermit(principal, action == Action::"${name}", resource);\n`;
}

/** Name of the policy file that `tools add --allow` writes. */
export function toolRuleFile(name: string): string {
  return `${toolRuleId(name)}.cedar`;
}

function toolRuleId(name: string): string {
  return `tool-${name.replaceAll("_", "-")}`;
}
