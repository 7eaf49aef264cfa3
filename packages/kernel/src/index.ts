export type * from "./approval/approval.ts";
export { type ApprovalScope, describeScope, toCoveredScope } from "./approval/approval-scope.ts";
export { type RuleSubject, createRuleTextWithId } from "./approval/rule-text.ts";
export { reevaluateRequest, type NotEvaluated, type ReevaluatedDecision } from "./policy/reevaluate-request.ts";
export { parseStoredJson, readStoredPolicyRequest, type StoredPolicyRequest } from "./policy/stored-policy-request.ts";
export {
  BUDGET_DIMENSIONS,
  type BudgetAmounts,
  type BudgetDimension,
  type BudgetLimits,
} from "./budget/budget.ts";
export type * from "./capability/capability.ts";
export { capabilityToJson } from "./capability/capability-to-json.ts";
export { canonicalHost, hostCovers, isPort } from "./capability/host-pattern.ts";
export { createJsonReader, joinField, type JsonReader, ownField } from "./capability/json-reader.ts";
export { nearestName } from "./capability/nearest-name.ts";
export { quoteText, showText } from "./capability/quote-text.ts";
export { PROTECTED_ACTION } from "./policy/protected-action.ts";
export { readCapability } from "./capability/parse-capability.ts";
export type * from "./kernel.ts";
export type { HostExamination, KernelOptions, KernelSettings, PolicyMode, ToolReadiness } from "./kernel-options.ts";
export type { Delegation, LeaseRelease, ReleasedLease, Revocation, RevokedLeases } from "./lease/delegation.ts";
export type { ClearedLabels, LabelClearing } from "./label/clear-workspace-labels.ts";
export { effectiveLabels } from "./label/effective-labels.ts";
export type { LabelledWorkspace } from "./label/workspace-labels.ts";
export type { Lease, LeaseRequest } from "./lease/lease.ts";
export { leaseToJson } from "./lease/lease-to-json.ts";
export { parseLeaseRequest } from "./lease/parse-lease-request.ts";
export { refuseUnknownParts } from "./registry/refuse-unknown-parts.ts";
export { checkOptions, type OptionKinds } from "./check-options.ts";
export { type OptionNames, refuseUnknownOptions } from "./refuse-unknown-options.ts";
export * from "./bundled-programs.ts";
export type { BundledTree } from "./bundle/bundled-tree.ts";
export { createStoreBundleSource } from "./bundle/store-bundle-source.ts";
export { type BundleSource, writeBundle } from "./bundle/write-bundle.ts";
export { joinSubtrees, leafHash, perfectRoot } from "./merkle/tree-hash.ts";
export { type LeafRange, wholeSubtrees } from "./merkle/tree-shape.ts";
export type * from "./sandboxed-programs.ts";
export type * from "./egress.ts";
export type * from "./page-reader.ts";
export * from "./session-shells.ts";
export { type CheckpointFacts, checkpointText, parseCheckpointText, type TreeHead } from "./merkle/checkpoint-note.ts";
export { isConsistent, rootFromInclusionPath } from "./merkle/check-proof.ts";
export type { CheckpointSettings, IssuedCheckpoint, RotatedKey } from "./merkle/checkpoints.ts";
export type { MerklePorts } from "./merkle/open-tree.ts";
export { consistencyProofText, inclusionProofText } from "./merkle/proof-text.ts";
export type { SignedCheckpoint } from "./merkle/recorded-checkpoint.ts";
export { encodeNote, type NoteSignature, parseNote, type SignedNote } from "./merkle/signed-note.ts";
export { createVerifierKey, parseVerifierKey, type VerifierKey } from "./merkle/verifier-key.ts";
export type { ContentDraft, EntryDraft } from "./ledger/record-draft.ts";
export type { AnalysedSet } from "./policy/analysis/analysed-rules.ts";
export { findImpossible, type ImpossibleRule } from "./policy/analysis/find-impossible.ts";
export { findShadowed, type ShadowedRule, type ShadowedRules } from "./policy/analysis/find-shadowed.ts";
export { findStaleOverrides, type StaleOverride } from "./policy/analysis/find-stale-overrides.ts";
export { type ToolVariant, toolVariants, type VariantTool } from "./policy/analysis/tool-variants.ts";
export { canBeOverridden, splitOverrides } from "./policy/overrides.ts";
export type * from "./policy/policy.ts";
export type * from "./policy/cedar/cedar.ts";
export { compileCedar } from "./policy/cedar/compile-cedar.ts";
export { createNoPolicy, createPolicy } from "./policy/create-policy.ts";
export type * from "./policy/explain.ts";
export { createExampleExplainer, type ExampleCall } from "./policy/explain-example.ts";
export { type PolicyFile, placeIn, policyInvalid } from "./policy/policy-file.ts";
export {
  decodeProof,
  type PreparedRecheck,
  prepareRecheck,
  type ProvenRequest,
  recheckDecision,
  recomputeProof,
} from "./policy/recheck-decision.ts";
export { permittedActions } from "./policy/schema/permitted-actions.ts";
export { type PolicyTool, policySchema } from "./policy/schema/policy-schema.ts";
export { type PolicySchema, readPolicySchema } from "./policy/schema/read-policy-schema.ts";
export * from "./ports.ts";
export { secretForms, secretRedactor } from "./secret/secret-forms.ts";
export { detectMediaType, readPixelSize } from "./result/media-type.ts";
export { createStreamRedactor, redactJson, redactText, type StreamRedactor } from "./result/redact.ts";
export type { ToolRegistration } from "./registry/register-tool.ts";
export { createRegistry, type RegisteredTool } from "./registry/registry.ts";
export type { StoredFileTrace } from "./replay/stored-file-trace.ts";
export type * from "./replay/replay-ports.ts";
export type * from "./replay/replay-report.ts";
export {
  digestRecordedSession,
  type ReplayedCall,
  type ReplayOptions,
  replaySession,
} from "./replay/replay-session.ts";
export type * from "./replay/replay-source.ts";
export { listRecordedSessions } from "./replay/recorded-sessions.ts";
export { ServedFromRecord } from "./replay/served-from-record.ts";
export { createStoreReplaySource } from "./replay/store-replay-source.ts";
export type { OpenSessionOptions, Session, SessionState } from "./session/session.ts";
export { startKernel } from "./start-kernel.ts";
export { defineTool } from "./tool/define-tool.ts";
export type { DefinedTool } from "./tool/defined-tool.ts";
export type { StandardSchema } from "./tool/standard-schema.ts";
export { definitionHash } from "./tool/definition-hash.ts";
export { EFFECT_RIGHTS } from "./tool/effect-rules.ts";
export { checkDeclaration } from "./tool/inspect-declaration.ts";
export { compileSchema } from "./schema/compile-schema.ts";
export { bindToPorts } from "./tool/port-bound-tools.ts";
export { markPrevalidated } from "./tool/prevalidated-tools.ts";
export * from "./tool/tool.ts";
export type { LongText, ViewPart } from "./result/view-part.ts";
export type * from "./vault.ts";
export { absolutePath, workspacePath } from "./tool/workspace-path.ts";
export * from "./wasm/wasm-limits.ts";
export * from "./wasm/wasm-runner.ts";
export { HOST_FUNCTIONS, type HostFunction, hostFunction } from "./wasm/host-functions.ts";
export type * from "./trusted-paths.ts";
export type * from "./workspace-files.ts";
export type { CollectionReport, Erasure, ErasureReport, Retention } from "./erasure/erasure.ts";
export type { HomeCopy, HomeCopyOptions } from "./restore/home-copy.ts";
export { RESTORED_KEY } from "./restore/settle-restored.ts";
export type { HookDecision } from "./hook/record-hook.ts";
