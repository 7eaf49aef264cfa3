import { ContentPlace, ContentRole, commitTo } from "@narthex/contracts";
import type { Random } from "../ports.ts";
import type { ContentDraft } from "./record-draft.ts";

/**
 * A digest tied to a record: the entry holds the commitment, the content item holds the digest and nonce that open it.
 */
export interface Committed {
  readonly digest: Uint8Array;
  readonly commitment: Uint8Array;
  readonly item: ContentDraft;
}

export interface CommittedContent {
  readonly role: ContentRole;
  readonly digest: Uint8Array;
  readonly size: number;
  /** Set if the bytes are stored in the record's own row. */
  readonly bytes?: Uint8Array;
  readonly place?: ContentPlace;
  readonly labels?: readonly string[];
}

const NONCE_BYTES = 32;

/**
 * Creates a commitment with a fresh nonce for every reference. Once a reference is erased, no guess of its digest can
 * be verified.
 */
export function commitContent(content: CommittedContent, random: Random): Committed {
  const nonce = random.bytes(NONCE_BYTES);
  const place = content.place ?? (content.bytes === undefined ? ContentPlace.NONE : ContentPlace.ROW);
  return {
    digest: content.digest,
    commitment: commitTo(content.digest, nonce),
    item: {
      role: content.role,
      digest: content.digest,
      nonce,
      size: content.size,
      place,
      data: content.bytes,
      labels: content.labels,
    },
  };
}

/** Commits to the digest of a whole request; no bytes are stored for it. */
export function commitRequest(digest: Uint8Array, random: Random): Committed {
  return commitContent({ role: ContentRole.REQUEST, digest, size: 0 }, random);
}
