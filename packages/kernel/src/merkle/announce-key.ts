import { utf8 } from "@narthex/contracts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import type { Signer } from "../ports.ts";
import { keyAnnouncementText } from "./key-announcement-text.ts";
import { merkleRow } from "./merkle-row.ts";
import type { MerkleParts, SignableTree, ReadableTree } from "./open-tree.ts";
import { type AnnouncedKey, keyAnnouncementNote } from "./recorded-checkpoint.ts";
import { createVerifierKey, type VerifierKey } from "./verifier-key.ts";

const NO_SIGNATURE = new Uint8Array(0);

/** Records the first signing key of a tree, signed by itself. */
export async function announceFirstKey(log: SignableTree, parts: MerkleParts): Promise<SignableTree> {
  return (await announce(log, { signer: log.signer, previous: undefined, previousSigner: undefined }, parts)).log;
}

/** Replaces the signing key: both keys sign the announcement, and the old key is removed at the end. */
export async function rotateKey(
  log: SignableTree,
  parts: MerkleParts,
): Promise<{ readonly log: SignableTree; readonly announced: AnnouncedKey }> {
  const next = await parts.keys.prepareNext();
  const hands = { signer: next, previous: log.key, previousSigner: log.signer };
  const { announced, log: after } = await announce(log, hands, parts);
  // Only this step makes the new key the current one. After a crash before it, the old key is still there; after a
  // crash during it, both keys are there, and the ledger tells which one is current.
  const signer = await parts.keys.open(next.publicKey);
  return { log: { ...after, signer }, announced };
}

/**
 * Replaces a lost signing key. The old key cannot sign the announcement, so nothing vouches for the new one, and the
 * announcement shows that.
 */
export async function replaceLostKey(
  log: ReadableTree,
  parts: MerkleParts,
): Promise<{ readonly log: SignableTree; readonly announced: AnnouncedKey }> {
  const next = await parts.keys.prepareAfterLoss();
  const hands = { signer: next, previous: log.key, previousSigner: undefined };
  const { announced, log: after } = await announce(log, hands, parts);
  return { log: { ...after, signer: await parts.keys.open(next.publicKey) }, announced };
}

interface KeySigners {
  readonly signer: Signer;
  readonly previous: VerifierKey | undefined;
  readonly previousSigner: Signer | undefined;
}

async function announce(
  log: ReadableTree,
  { signer, previous, previousSigner }: KeySigners,
  { ledger, publication }: MerkleParts,
): Promise<{ readonly log: SignableTree; readonly announced: AnnouncedKey }> {
  const key = createVerifierKey(log.key.name, signer.publicKey);
  const treeSize = log.head?.size ?? 0;
  const text = utf8(keyAnnouncementText({ previous, next: key, treeSize }));
  const signature = await signer.sign(text);
  const previousSignature = (await previousSigner?.sign(text)) ?? NO_SIGNATURE;
  const withKey = (recordIndex: number) => [...log.keyRecords, recordIndex];
  const { index } = await ledger.append({
    chain: SYSTEM_CHAIN,
    entries: [
      {
        case: "logKeyAnnounced",
        value: {
          verifierKey: key.text,
          previousVerifierKey: previous?.text ?? "",
          treeSize,
          signature,
          previousSignature,
        },
      },
    ],
    state: (recordIndex) => [merkleRow({ keyRecords: withKey(recordIndex), checkpointRecord: log.head?.recordIndex })],
  });
  const note = keyAnnouncementNote({ key, previous, treeSize, signature, previousSignature });
  await publication.writeKey(log.keyRecords.length, note, key.text);
  return { log: { ...log, signer, key, keyRecords: withKey(index) }, announced: { key, recordIndex: index, note } };
}
