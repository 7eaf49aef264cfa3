import {
  compileEncoder,
  ContentPlace,
  ContentRole,
  type Entry,
  fromBinary,
  type ContentItem,
  ProofSchema,
  type RecordContent,
  RecordContentSchema,
  RecordSchema,
} from "@narthex/contracts";
import { SECRET } from "../label/secret-label.ts";

/** A record's content as stored in a bundle, and references to other content that the bundle must hold. */
export interface BundledContent {
  /** An encoded `RecordContent`, and the items in it. */
  readonly bytes: Uint8Array;
  readonly items: readonly ContentItem[];
  /** Digests of content stored outside the record. */
  readonly externalDigests: readonly Uint8Array[];
}

const encodeContent = compileEncoder<RecordContent>(RecordContentSchema);
const NO_BYTES = new Uint8Array(0);

/** Roles whose content never holds a user's secret. */
const PUBLIC_ROLES: ReadonlySet<ContentRole> = new Set([
  ContentRole.REQUEST,
  ContentRole.PROOF,
  ContentRole.POLICY_SET,
  ContentRole.POLICY_SCHEMA,
  ContentRole.DEFINITION,
]);

/**
 * Prepares a record's content for a bundle.
 *
 * SECURITY: if any part of a record is labelled `secret`, its content is left out: input, content read or replaced,
 * output and result. Digests stay, so that commitments can still be verified. Content from the vault is never included.
 */
export function bundleContent(record: Uint8Array, content: Uint8Array): BundledContent {
  const { entries } = fromBinary(RecordSchema, record);
  const { items } = fromBinary(RecordContentSchema, content);
  const isSecret = entries.some(isLabelledSecret) || items.some(({ labels }) => labels.includes(SECRET));
  const kept = items.map((item) =>
    isOmitted(item, isSecret) ? { ...item, place: ContentPlace.NONE, data: NO_BYTES } : item,
  );
  const bytes = kept.some((item, index) => item !== items[index])
    ? encodeContent({ items: kept.map((item) => ({ ...item, size: Number(item.size) })) })
    : content;
  return { bytes, items: kept, externalDigests: kept.flatMap(findExternalDigests) };
}

function isLabelledSecret({ kind }: Entry): boolean {
  switch (kind.case) {
    case "toolCompleted":
    case "toolFailed":
    case "toolTimedOut":
    case "toolDenied":
      return kind.value.labels.includes(SECRET);
    default:
      return false;
  }
}

function isOmitted({ role, place }: ContentItem, isSecret: boolean): boolean {
  if (place === ContentPlace.NONE || place === ContentPlace.ERASED || PUBLIC_ROLES.has(role)) return false;
  return isSecret || role === ContentRole.STAGED;
}

/** Returns the digests of content stored elsewhere; for a decision's proof, those of its policy set and schema. */
function findExternalDigests({ role, place, digest, data }: ContentItem): Uint8Array[] {
  if (place === ContentPlace.FILE || place === ContentPlace.ELSEWHERE) return [digest];
  if (role !== ContentRole.PROOF || place !== ContentPlace.ROW) return [];
  const { policyHash, schemaHash } = fromBinary(ProofSchema, data);
  return [policyHash, schemaHash].filter(({ length }) => length > 0);
}
