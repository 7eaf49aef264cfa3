import { utf8 } from "@narthex/contracts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import type { Signer } from "../ports.ts";
import { logKeyText } from "./log-key-note.ts";
import { logRow } from "./log-row.ts";
import type { LogParts, OpenLog, ReadLog } from "./open-log.ts";
import { type AnnouncedKey, logKeyNote } from "./recorded-log.ts";
import { createVerifierKey, type VerifierKey } from "./verifier-key.ts";

const NO_SIGNATURE = new Uint8Array(0);

/** Records the first key of a log, signed by itself. */
export async function announceFirstKey(log: OpenLog, parts: LogParts): Promise<OpenLog> {
  return (await announce(log, { signer: log.signer, previous: undefined, previousSigner: undefined }, parts)).log;
}

/** Hands over to a new key: both sign, and the old one is gone when this is done. */
export async function handOverKey(
  log: OpenLog,
  parts: LogParts,
): Promise<{ readonly log: OpenLog; readonly announced: AnnouncedKey }> {
  const next = await parts.keys.prepareNext();
  const hands = { signer: next, previous: log.key, previousSigner: log.signer };
  const { announced, log: after } = await announce(log, hands, parts);
  // Only now is it the present one: a crash before leaves the old key, one after it leaves both and the ledger tells.
  const signer = await parts.keys.open(next.publicKey);
  return { log: { ...after, signer }, announced };
}

/** Begins a new key in place of one that is gone. Nothing vouches for it, and the announcement shows that. */
export async function beginAfterLoss(
  log: ReadLog,
  parts: LogParts,
): Promise<{ readonly log: OpenLog; readonly announced: AnnouncedKey }> {
  const next = await parts.keys.prepareAfterLoss();
  const hands = { signer: next, previous: log.key, previousSigner: undefined };
  const { announced, log: after } = await announce(log, hands, parts);
  return { log: { ...after, signer: await parts.keys.open(next.publicKey) }, announced };
}

interface Hands {
  readonly signer: Signer;
  readonly previous: VerifierKey | undefined;
  readonly previousSigner: Signer | undefined;
}

async function announce(
  log: ReadLog,
  { signer, previous, previousSigner }: Hands,
  { ledger, publication }: LogParts,
): Promise<{ readonly log: OpenLog; readonly announced: AnnouncedKey }> {
  const key = createVerifierKey(log.key.name, signer.publicKey);
  const treeSize = log.head?.size ?? 0;
  const text = utf8(logKeyText({ previous, next: key, treeSize }));
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
    state: (recordIndex) => [logRow({ keyRecords: withKey(recordIndex), checkpointRecord: log.head?.recordIndex })],
  });
  const note = logKeyNote({ key, previous, treeSize, signature, previousSignature });
  await publication.writeKey(log.keyRecords.length, note, key.text);
  return { log: { ...log, signer, key, keyRecords: withKey(index) }, announced: { key, recordIndex: index, note } };
}
