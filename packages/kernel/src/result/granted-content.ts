import { ContentPlace, ContentRole, toHex } from "@narthex/contracts";
import { joinLabels } from "../label/join-labels.ts";
import { commitContent } from "../ledger/commitment.ts";
import type { ContentDraft } from "../ledger/record-draft.ts";
import type { Random } from "../ports.ts";
import type { ContentLibrary, FoundContent } from "./content-library.ts";

/** Finds each content once. Throws CONTENT_NOT_FOUND unless the session may name all of it. */
export async function findGrantedContent(
  sessionId: string,
  hashes: readonly Uint8Array[],
  content: ContentLibrary,
): Promise<FoundContent[]> {
  const once = new Map(hashes.map((hash) => [toHex(hash), hash]));
  const found: FoundContent[] = [];
  for (const hash of once.values()) found.push(await content.find(sessionId, hash));
  return found;
}

/** Creates the content item that lets a session name another session's content, with the labels of both. */
export function grantedItem(
  { digest, size, labels, place: found }: FoundContent,
  giverLabels: readonly string[],
  random: Random,
): ContentDraft {
  const place = found === "held" ? ContentPlace.NONE : ContentPlace.ELSEWHERE;
  const content = { role: ContentRole.GRANTED, digest, size, place, labels: grantedLabels(labels, giverLabels) };
  return commitContent(content, random).item;
}

export function grantedLabels(bound: readonly string[], giverLabels: readonly string[]): readonly string[] {
  return joinLabels([], [...bound, ...giverLabels]);
}

export function joinContentLabels(contents: readonly FoundContent[]): readonly string[] {
  return contents.flatMap(({ labels }) => labels);
}
