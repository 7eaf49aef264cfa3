import {
  ContentPlace,
  ContentRole,
  canonicalJsonBytes,
  fromHex,
  isJsonObject,
  type JsonObject,
  KernelError,
  parseJson,
} from "@narthex/contracts";
import { commitContent } from "../ledger/commitment.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ContentDraft } from "../ledger/record-draft.ts";
import type { Random, Store } from "../ports.ts";
import type { FoundContent } from "../result/content-library.ts";
import type { ContentUses } from "../erasure/content-uses.ts";
import type { Session } from "../session/session.ts";
import type { Artifact } from "../tool/tool.ts";

export type ArtifactDraft = Pick<Artifact, "artifact_id" | "content_hash" | "category" | "metadata">;

export interface Publication {
  readonly session: Session;
  readonly requestId: string;
  readonly publishedAtMs: number;
  readonly labels: readonly string[];
  /** Throws if the publishing call has ended. Called last, right before the write. */
  verifyOpen(): void;
}

export interface FoundArtifact {
  readonly artifact: Artifact;
  /** The request that published the artifact. */
  readonly requestId: string;
  readonly labels: readonly string[];
  /** A content item with which the chain that records it refers to the content. */
  readonly reference: ContentDraft;
}

/** Content published under an id of its tenant, once, and never changed. */
export interface Artifacts {
  publish(draft: ArtifactDraft, content: FoundContent, publication: Publication): Promise<Artifact>;
  find(tenant: string, artifactId: string): Promise<FoundArtifact | undefined>;
}

export function createArtifacts(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly uses: ContentUses;
  /** Converts an id to its stored form. */
  recordedId(id: string): string;
}): Artifacts {
  /** Publications in progress: two concurrent calls must not both find an id free. */
  const publishing = new Map<string, Promise<unknown>>();

  async function find(tenant: string, artifactId: string): Promise<FoundArtifact | undefined> {
    const row = await parts.store.getState("artifacts", artifactKey(tenant, parts.recordedId(artifactId)));
    const found = row === undefined ? undefined : readRow(row, parts.random);
    if (found === undefined) return undefined;
    if (found.reference.digest !== undefined) {
      await parts.uses.whenFree(found.reference.digest);
      parts.uses.note(found.reference.digest);
    }
    return { ...found, artifact: { ...found.artifact, artifact_id: artifactId } };
  }

  async function write(draft: ArtifactDraft, content: FoundContent, publication: Publication): Promise<Artifact> {
    const { session, requestId } = publication;
    const existing = await find(session.tenant, draft.artifact_id);
    if (existing !== undefined) return sameOrThrow(existing.artifact, draft);
    const artifact: Artifact = { ...draft, size: content.size, published_at_ms: publication.publishedAtMs };
    const committed = commitContent(
      {
        role: ContentRole.ARTIFACT,
        digest: content.digest,
        size: content.size,
        place: content.place === "held" ? ContentPlace.NONE : ContentPlace.ELSEWHERE,
        labels: publication.labels,
      },
      parts.random,
    );
    const recordedId = parts.recordedId(artifact.artifact_id);
    const row: JsonObject = {
      ...artifact,
      artifact_id: recordedId,
      ...(content.place === "held" && { withheld: true }),
      metadata: [...artifact.metadata],
      request_id: requestId,
      labels: [...publication.labels],
    };
    publication.verifyOpen();
    await parts.ledger.append({
      chain: session.id,
      requestId,
      entries: [
        {
          case: "artifactPublished",
          value: {
            artifactId: recordedId,
            category: artifact.category,
            metadata: artifact.metadata,
            contentCommitment: committed.commitment,
            size: artifact.size,
            tenant: session.tenant,
          },
        },
      ],
      content: [committed.item],
      state: [{ table: "artifacts", key: artifactKey(session.tenant, recordedId), value: canonicalJsonBytes(row) }],
      logicalTimeMs: publication.publishedAtMs,
    });
    return artifact;
  }

  return {
    find,
    async publish(draft, content, publication) {
      const key = artifactKey(publication.session.tenant, parts.recordedId(draft.artifact_id));
      while (publishing.has(key)) await publishing.get(key)?.catch(() => undefined);
      const published = write(draft, content, publication);
      publishing.set(key, published);
      try {
        return await published;
      } finally {
        publishing.delete(key);
      }
    },
  };
}

export function artifactKey(tenant: string, artifactId: string): string {
  return `${tenant}\n${artifactId}`;
}

function sameOrThrow(existing: Artifact, draft: ArtifactDraft): Artifact {
  const same =
    existing.content_hash === draft.content_hash &&
    existing.category === draft.category &&
    existing.metadata.length === draft.metadata.length &&
    existing.metadata.every((entry, i) => entry === draft.metadata[i]);
  if (same) return existing;
  throw new KernelError(
    "ARTIFACT_EXISTS",
    `artifact \`${draft.artifact_id.slice(0, 80)}\` was published with other content; choose another id`,
  );
}

/** Parses a row. Only this module writes these rows, so a damaged one is an internal error. */
function readRow(row: Uint8Array, random: Random): FoundArtifact {
  const value = parseJson(row);
  if (isJsonObject(value) && value["content_hash"] === "") {
    throw new KernelError("CONTENT_NOT_FOUND", "the content of this artifact was erased");
  }
  const hash =
    isJsonObject(value) && typeof value["content_hash"] === "string" ? fromHex(value["content_hash"]) : undefined;
  if (!isJsonObject(value) || hash === undefined) throw new KernelError("INTERNAL", "an artifact's row is damaged");
  const artifact: Artifact = {
    artifact_id: text(value["artifact_id"]),
    content_hash: text(value["content_hash"]),
    category: text(value["category"]),
    metadata: texts(value["metadata"]),
    size: Number(value["size"]),
    published_at_ms: Number(value["published_at_ms"]),
  };
  const labels = texts(value["labels"]);
  const place = value["withheld"] === true ? ContentPlace.NONE : ContentPlace.ELSEWHERE;
  const reference = commitContent(
    { role: ContentRole.GRANTED, digest: hash, size: artifact.size, place, labels },
    random,
  ).item;
  return { artifact, requestId: text(value["request_id"]), labels, reference };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(text) : [];
}
