import { ContentRole } from "@narthex/contracts";
import type { Slice } from "./wire/slice.ts";
import type { DecodedEntry, DecodedRecord } from "./ledger-messages.ts";

/** A digest that an entry states. Some item has to open it, and an item without a claim is invalid. */
export interface Claim {
  readonly role: ContentRole;
  /** BLAKE3(tag, nonce, digest), or the digest itself if `plain` is set. */
  readonly value: Slice;
  readonly plain: boolean;
  /** The size that the entry states, if it states one. */
  readonly size: number | undefined;
  readonly labels: readonly string[] | undefined;
  opened: boolean;
}

/** SPEC: docs/formats/ledger.md, "Content items". */
export function claimsOf(record: DecodedRecord): Claim[] {
  const claims: Claim[] = [];
  for (const { kind } of record.entries) addClaims(claims, kind);
  return claims;
}

function addClaims(claims: Claim[], kind: DecodedEntry): void {
  switch (kind.case) {
    case "toolInvoked":
      commit(claims, ContentRole.INPUT, kind.value.inputCommitment);
      commit(claims, ContentRole.REQUEST, kind.value.requestCommitment);
      return;
    case "policyDecision":
      commit(claims, ContentRole.PROOF, kind.value.proofCommitment);
      commit(claims, ContentRole.POLICY_REQUEST, kind.value.policyRequestCommitment);
      return;
    case "hookDecided":
    case "approvalRequested":
      commit(claims, ContentRole.INPUT, kind.value.inputCommitment);
      return;
    case "toolCompleted":
    case "toolFailed":
    case "toolTimedOut":
    case "toolDenied":
      commit(claims, ContentRole.REQUEST, kind.value.requestCommitment);
      commit(claims, ContentRole.PROOF, kind.value.proofCommitment);
      commit(claims, ContentRole.RESULT, kind.value.resultCommitment, kind.value.resultSize, kind.value.labels);
      commit(claims, ContentRole.ERROR, kind.value.errorCommitment);
      commit(claims, ContentRole.FILES, kind.value.filesCommitment);
      for (const value of kind.value.preimageCommitments) commit(claims, ContentRole.PREIMAGE, value);
      for (const value of kind.value.outputCommitments) commit(claims, ContentRole.OUTPUT, value);
      for (const value of kind.value.stagedCommitments) commit(claims, ContentRole.STAGED, value);
      return;
    case "contentStored":
      commit(claims, ContentRole.PUT, kind.value.contentCommitment, kind.value.size, kind.value.labels);
      return;
    case "artifactPublished":
      commit(claims, ContentRole.ARTIFACT, kind.value.contentCommitment, kind.value.size);
      return;
    case "policyLoaded":
      name(claims, ContentRole.POLICY_SET, kind.value.policyHash);
      name(claims, ContentRole.POLICY_SCHEMA, kind.value.schemaHash);
      return;
    case "toolRegistered":
      name(claims, ContentRole.DEFINITION, kind.value.definitionHash);
      return;
    default:
      return;
  }
}

function commit(claims: Claim[], role: ContentRole, value: Slice, size?: number, labels?: readonly string[]): void {
  if (value.length > 0) claims.push({ role, value, plain: false, size, labels, opened: false });
}

/** Policy sets and definitions are not secret: entries state their digests in the clear, with or without the bytes. */
function name(claims: Claim[], role: ContentRole, value: Slice): void {
  if (value.length > 0) claims.push({ role, value, plain: true, size: undefined, labels: undefined, opened: true });
}
