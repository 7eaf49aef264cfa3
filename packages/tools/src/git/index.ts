export { checkGitUrl, type GitUrlRules } from "./check-git-url.ts";
export type { ConfigRemedy } from "./config-rules.ts";
export { CONFIG_LISTING, type ConfigFinding, type DangerousConfig, dangerousConfig } from "./dangerous-config.ts";
export { type GitArgumentOptions, type GitArguments, type GitRequest, gitArguments } from "./git-arguments.ts";
export {
  GIT_OPERATION_FACTS,
  type GitOperationFacts,
  type GitOperationName,
  isExpectedConfigChange,
  isGitOperation,
} from "./git-operations.ts";
export { todoRunsPrograms } from "./todo-runs-programs.ts";
export { type GitPrefix, type GitPrefixOptions, gitPrefix } from "./git-prefix.ts";
export { gitTool } from "./git-tool.ts";
