import { ProofSchema, RecordContentSchema, RecordSchema } from "@narthex/contracts";
import type { Proof, RecordContent, RecordMessage } from "@narthex/contracts";
import { type KeptFields, layoutOf, NO_BYTES, NO_CASE, NO_ITEMS } from "./wire/message-layout.ts";

/** What the rules look at. Every other field is checked for its encoding and let go. */
export const KEPT = {
  Record: () => ({
    format: 0,
    index: 0,
    chain: "",
    sequence: 0,
    logicalTimeMs: 0,
    wallTimeMs: 0,
    previousHash: NO_BYTES,
    requestId: "",
    entries: NO_ITEMS,
  }),
  Entry: () => ({ kind: NO_CASE }),
  ToolInvoked: () => ({ inputCommitment: NO_BYTES, requestCommitment: NO_BYTES }),
  CapabilityCheck: () => ({ granted: false }),
  PolicyDecision: () => ({
    allowed: false,
    ruleIds: NO_ITEMS,
    policyHash: NO_BYTES,
    proofCommitment: NO_BYTES,
    approve: "",
    rationaleCode: "",
    observedOnly: false,
    policyRequestCommitment: NO_BYTES,
  }),
  HookDecided: () => ({ inputCommitment: NO_BYTES }),
  ApprovalRequested: () => ({ approvalId: "", inputCommitment: NO_BYTES }),
  ApprovalResolved: () => ({ approvalId: "", answer: "", scope: "", standingId: "" }),
  StandingApprovalRevoked: () => ({ standingId: "" }),
  ToolStarted: () => ({ intent: false }),
  Outcome: () => ({
    success: false,
    code: "",
    requestCommitment: NO_BYTES,
    proofCommitment: NO_BYTES,
    resultCommitment: NO_BYTES,
    resultSize: 0,
    labels: NO_ITEMS,
    errorCommitment: NO_BYTES,
    filesCommitment: NO_BYTES,
    preimageCommitments: NO_ITEMS,
    outputCommitments: NO_ITEMS,
    stagedCommitments: NO_ITEMS,
  }),
  CallRepeated: () => ({ firstRecordIndex: 0 }),
  SessionOpened: () => ({ sessionId: "" }),
  PolicyLoaded: () => ({ policyHash: NO_BYTES, schemaHash: NO_BYTES }),
  ToolRegistered: () => ({ definitionHash: NO_BYTES }),
  ContentStored: () => ({ contentCommitment: NO_BYTES, size: 0, labels: NO_ITEMS }),
  ContentErased: () => ({ recordIndex: 0, item: 0 }),
  ArtifactPublished: () => ({ contentCommitment: NO_BYTES, size: 0 }),
  CheckpointSigned: () => ({ treeSize: 0, rootHash: NO_BYTES, keyId: "", signature: NO_BYTES }),
  LogKeyAnnounced: () => ({
    verifierKey: "",
    previousVerifierKey: "",
    treeSize: 0,
    signature: NO_BYTES,
    previousSignature: NO_BYTES,
  }),
  OutcomeSettled: () => ({ requestId: "" }),
  Proof: () => ({
    allowed: false,
    ruleIds: NO_ITEMS,
    policyHash: NO_BYTES,
    requestHash: NO_BYTES,
    rationaleCode: "",
    approve: "",
    errors: NO_ITEMS,
  }),
  RecordContent: () => ({ items: NO_ITEMS }),
  ContentItem: () => ({
    role: 0,
    digest: NO_BYTES,
    nonce: NO_BYTES,
    size: 0,
    place: 0,
    data: NO_BYTES,
    labels: NO_ITEMS,
  }),
} satisfies KeptFields;

export const RECORD_LAYOUT = layoutOf<RecordMessage>(RecordSchema, KEPT);
export const PROOF_LAYOUT = layoutOf<Proof>(ProofSchema, KEPT);
export const CONTENT_LAYOUT = layoutOf<RecordContent>(RecordContentSchema, KEPT);
