import type { EntryOf } from "../ledger-messages.ts";
import { isSigned, type VerifierKey, parseVerifierKey } from "./verifier-key.ts";

/** A key that the ledger announces. */
export interface AnnouncedKey {
  readonly key: VerifierKey;
  readonly recordIndex: number;
  /** The previous key was lost, so nothing vouches for this one. */
  readonly afterLoss: boolean;
}

/** The keys of a Merkle tree in the order in which the ledger announces them. */
export class KeyHistory {
  readonly announced: AnnouncedKey[] = [];
  readonly #trusted: VerifierKey | undefined;
  #trustedFrom: number | undefined;
  #lostTrust: number | undefined;

  /** Without a trusted key, the ledger's first key and every later one are trusted. */
  constructor(trusted: VerifierKey | undefined) {
    this.#trusted = trusted;
  }

  get current(): VerifierKey | undefined {
    return this.announced.at(-1)?.key;
  }

  get keys(): readonly VerifierKey[] {
    return this.announced.map(({ key }) => key);
  }

  /** Whether signatures of the current key are trusted. */
  get isTrusted(): boolean {
    return this.#trustedFrom !== undefined;
  }

  /** The record that announced a key to which neither the trusted key nor its successors handed over. */
  get lostTrust(): number | undefined {
    return this.#lostTrust;
  }

  /** The records that announced keys which nothing vouches for; without such records, the field is absent. */
  get losses(): { readonly keyLosses?: readonly number[] } {
    const lost = this.announced.filter(({ afterLoss }) => afterLoss);
    return lost.length === 0 ? {} : { keyLosses: lost.map(({ recordIndex }) => recordIndex) };
  }

  /** The keys whose signatures are trusted. */
  get trustedKeys(): readonly VerifierKey[] {
    return this.#trustedFrom === undefined ? [] : this.keys.slice(this.#trustedFrom);
  }

  /**
   * Makes the announced key the current one. Returns a problem if the announcement is invalid, and undefined otherwise.
   */
  announce(entry: EntryOf<"logKeyAnnounced">, lastSize: number, recordIndex: number): string | undefined {
    const key = parseVerifierKey(entry.verifierKey);
    if (key === undefined) return "what is announced is no key";
    const previous = this.current;
    if (entry.previousVerifierKey !== (previous?.text ?? "")) return "it does not follow the key that is in use";
    if (previous !== undefined && previous.name !== key.name) return "it is a key of another log";
    if (entry.treeSize !== lastSize) return "its size is not that of the last checkpoint before it";
    const text = announcementText(entry);
    if (!isSigned(key, text, entry.signature.view())) return "it is not signed by the new key";
    const handedOver = entry.previousSignature;
    const afterLoss = previous !== undefined && handedOver.length === 0;
    if (previous === undefined ? handedOver.length > 0 : !afterLoss && !isSigned(previous, text, handedOver.view())) {
      return "it is not signed by the key that it replaces";
    }
    this.take({ key, recordIndex, afterLoss });
    return undefined;
  }

  /** SECURITY: a key loss ends all trust derived from earlier keys; the new key can be trusted only explicitly. */
  take(announced: AnnouncedKey): void {
    this.announced.push(announced);
    if (announced.afterLoss && this.#trusted !== undefined && this.#trustedFrom !== undefined) {
      this.#trustedFrom = undefined;
      this.#lostTrust = announced.recordIndex;
    }
    if (this.#trusted === undefined || this.#trusted.text === announced.key.text) {
      this.#trustedFrom ??= this.announced.length - 1;
    }
  }
}

/** SPEC: docs/formats/log.md, "Announcements". */
function announcementText({ verifierKey, previousVerifierKey, treeSize }: EntryOf<"logKeyAnnounced">): string {
  return `narthex/log-key/v1\n${previousVerifierKey || "none"}\n${verifierKey}\n${treeSize}\n`;
}
