import type { EntryOf } from "../ledger-messages.ts";
import { isSigned, type VerifierKey, parseVerifierKey } from "./verifier-key.ts";

/** A key as the ledger announces it. */
export interface AnnouncedKey {
  readonly key: VerifierKey;
  readonly recordIndex: number;
  /** The key before it was lost: nothing vouches for this one. */
  readonly afterLoss: boolean;
}

/** The keys of a log in the order in which the ledger announces them. */
export class KeyHistory {
  readonly announced: AnnouncedKey[] = [];
  readonly #trusted: VerifierKey | undefined;
  #trustedFrom: number | undefined;
  #lostTrust: number | undefined;

  /** Without a trusted key, the ledger's own first one is taken at its word, and so is every later one. */
  constructor(trusted: VerifierKey | undefined) {
    this.#trusted = trusted;
  }

  get current(): VerifierKey | undefined {
    return this.announced.at(-1)?.key;
  }

  get keys(): readonly VerifierKey[] {
    return this.announced.map(({ key }) => key);
  }

  /** Whether what the current key signs counts. */
  get isTrusted(): boolean {
    return this.#trustedFrom !== undefined;
  }

  /** The record that announced a key which the trusted one, or those that it handed over to, did not hand over to. */
  get lostTrust(): number | undefined {
    return this.#lostTrust;
  }

  /** The records that announced keys which nothing vouches for; nothing at all if there are none. */
  get losses(): { readonly keyLosses?: readonly number[] } {
    const lost = this.announced.filter(({ afterLoss }) => afterLoss);
    return lost.length === 0 ? {} : { keyLosses: lost.map(({ recordIndex }) => recordIndex) };
  }

  /** The keys whose signatures count. */
  get trustedKeys(): readonly VerifierKey[] {
    return this.#trustedFrom === undefined ? [] : this.keys.slice(this.#trustedFrom);
  }

  /** Takes the key as the current one, unless something is wrong: answers what. */
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

  /** SECURITY: a loss ends all trust that came from a key before it; whoever was told the new key can trust that. */
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
