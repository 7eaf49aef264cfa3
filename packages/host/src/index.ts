export { type LedgerStoreOptions, openLedgerStore } from "./store/open-ledger-store.ts";
export { createMerklePublication } from "./merkle/merkle-publication.ts";
export { openRedactionKey } from "./secrets/redaction-key.ts";
export { openSigningKeys } from "./merkle/signing-keys.ts";
export { backUpHome, type BackupParts } from "./backup/back-up-home.ts";
export { type LedgerFiles, openLedgerFiles } from "./store/read-ledger-files.ts";
export { restoreHome } from "./backup/restore-home.ts";
export type { BearerTokens, TokenScope } from "./home/bearer-tokens.ts";
export { readAdminToken } from "./home/admin-token.ts";
export { readHolder, type Holder } from "./home/holder.ts";
export { claimHome, type HomeClaim } from "./home/home-lock.ts";
export { defaultHomePath, type HomePaths, homePaths } from "./home/home-paths.ts";
export { type Home, openHome, type OpenHomeOptions } from "./home/open-home.ts";
export { findSocketPaths, type SocketPaths } from "./home/socket-paths.ts";
export { isInside } from "./home/is-inside.ts";
export { writePrivateFile } from "./home/private-file.ts";
export { loadSessionToken, saveSessionToken, stateDirectory } from "./home/session-tokens.ts";
export { resolveWorkspace } from "./home/workspace-rules.ts";
export { findOwnCode, type OwnCode, type OwnCodeOptions } from "./own-code/own-code.ts";
export { disablePretenuring } from "./system/disable-pretenuring.ts";
export { removeOwnTree } from "./system/remove-own-tree.ts";
export { createSystemRandom, systemClock } from "./system/system-drivers.ts";
export { type Configuration, DEFAULT_CONFIGURATION } from "./configuration/configuration.ts";
export { DEFAULT_CONFIGURATION_TEXT } from "./configuration/default-configuration-text.ts";
export { loadConfiguration } from "./configuration/load-configuration.ts";
export {
  type AddedTool,
  addedToolId,
  type CandidateTool,
  listPinnedFiles,
  isEndpoint,
  isProgram,
  isWasm,
  programHash,
} from "./adapters/added-tool.ts";
export type { EndpointPin } from "./adapters/endpoint-pin.ts";
export { secretProblem } from "./adapters/endpoint-secret.ts";
export { findTools } from "./adapters/find-tools.ts";
export { type AddedTools, loadAddedTools, type LoadAddedToolsOptions } from "./adapters/load-added-tools.ts";
export { describeCandidate } from "./adapters/program-tool.ts";
export { describeWasmCandidate } from "./adapters/wasm-tool.ts";
export { type ClosableWasmRunner, createWasmRunner, type WasmRunnerParts } from "./wasm/create-wasm-runner.ts";
export type { FoundTools } from "./adapters/read-candidate.ts";
export { reservedNameProblem } from "./adapters/reserved-names.ts";
export { listStoredTools, removeStoredTools, storeTool } from "./adapters/tool-store.ts";
export { type McpServers, openServers, readPinnedTools, type ServersOptions } from "./mcp-servers/open-servers.ts";
export { pinsDirectory } from "./mcp-servers/pin-store.ts";
export { reviewServer, type ServerReview, trustReview } from "./mcp-servers/review-server.ts";
export { openContentFiles } from "./content/content-files.ts";
export { storeUnavailable } from "./system/system-error.ts";
export { examineHost, type ExamineOptions } from "./doctor/examine-host.ts";
export { acceptWorkspace, findUnsafeWorkspaces } from "./doctor/unsafe-workspaces.ts";
export type { FixStep, HostReport, Mechanism, ToolClass } from "./doctor/host-report.ts";
export { findToolchains, type ToolchainOptions } from "./toolchains/find-toolchains.ts";
export type { Toolchain, ToolchainKind, ToolchainMount } from "./toolchains/toolchain.ts";
export { toolchainEnvironment, toolchainPath, toolchainMounts } from "./toolchains/toolchain-plan.ts";
export {
  type CacheUse,
  openWorkspaceCache,
  type WorkspaceCache,
  type WorkspaceCacheOptions,
} from "./toolchains/workspace-cache.ts";
export {
  createWorkspaceFiles,
  type WorkspaceFilesDriver,
  type WorkspaceFilesOptions,
} from "./files/create-workspace-files.ts";
export { readBundledTree } from "./bundle/read-bundled-tree.ts";
export { createVirtualFiles } from "./files/virtual/create-virtual-files.ts";
export { findRipgrep } from "./search/find-ripgrep.ts";
export { type Containment, type ContainmentOptions, openContainment } from "./sandbox/open-containment.ts";
export { summariseEnvelope } from "./bootstrap/envelope.ts";
export { isWritableByTools, makeWorkspace } from "./bootstrap/make-workspace.ts";
export { handOverWorkspace } from "./bootstrap/hand-over-workspace.ts";
export { type OpenedGate, openGate } from "./network/open-gate.ts";
export { openToolRuntime, type ToolRuntime, type ToolRuntimeOptions } from "./open-tool-runtime.ts";
export {
  type DecideExample,
  type ExampleDecision,
  type ExampleFailure,
  type ExpectedDecision,
  type PolicyExample,
  runExamples,
} from "./policy/examples.ts";
export { findImpossibleRules } from "./policy/impossible-rules.ts";
export { reviewRules } from "./policy/review-rules.ts";
export { explainRules } from "./policy/explain-rules.ts";
export { type LoadedPolicySet, loadPolicySet } from "./policy/load-policy-set.ts";
export { parseExamples, readExamples } from "./policy/read-examples.ts";
export { readPolicyDirectory } from "./policy/read-policy-directory.ts";
export type { LoadedRule } from "./policy/read-rules.ts";
export { createRechecker } from "./policy/create-rechecker.ts";
export { recheckStored } from "./policy/recheck-stored.ts";
export { createCedarWasmEngine, CEDAR_WASM_ENGINE } from "./policy/cedar-wasm-engine.ts";
export { cachePolicySet, type PolicyLoadOptions } from "./policy/policy-set-cache.ts";
export {
  assemblePolicy,
  assemblePolicyOrNone,
  type PolicyReview,
  policyTools,
  schemaForTools,
} from "./policy/assemble-policy.ts";
