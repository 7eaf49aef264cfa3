import { type LogKey, isSigned, parseLogKey } from "./log-key.ts";
import type { EntryOf } from "../ledger-messages.ts";

/** The keys of a log in the order in which the ledger announces them. */
export class KeyHistory {
  readonly keys: LogKey[] = [];
  readonly #trusted: LogKey | undefined;
  #trustedFrom: number | undefined;

  /** Without a trusted key, the ledger's own first one is taken at its word. */
  constructor(trusted: LogKey | undefined) {
    this.#trusted = trusted;
  }

  get current(): LogKey | undefined {
    return this.keys.at(-1);
  }

  /** Whether what the current key signs counts. */
  get isTrusted(): boolean {
    return this.#trustedFrom !== undefined;
  }

  /** Takes the key as the current one, unless something is wrong: answers what. */
  announce(announced: EntryOf<"logKeyAnnounced">, lastSize: number): string | undefined {
    const key = parseLogKey(announced.verifierKey);
    if (key === undefined) return "what is announced is no key";
    const previous = this.current;
    if (announced.previousVerifierKey !== (previous?.text ?? "")) return "it does not follow the key that is in use";
    if (previous !== undefined && previous.name !== key.name) return "it is a key of another log";
    if (announced.treeSize !== lastSize) return "its size is not that of the last checkpoint before it";
    const text = announcementText(announced);
    if (!isSigned(key, text, announced.signature.view())) return "it is not signed by the new key";
    const handedOver = announced.previousSignature;
    if (previous === undefined ? handedOver.length > 0 : !isSigned(previous, text, handedOver.view())) {
      return "it is not signed by the key that it replaces";
    }
    this.keys.push(key);
    if (this.#trusted === undefined || this.#trusted.text === key.text) this.#trustedFrom ??= this.keys.length - 1;
    return undefined;
  }
}

/** SPEC: docs/formats/log.md, "Announcements". */
function announcementText({ verifierKey, previousVerifierKey, treeSize }: EntryOf<"logKeyAnnounced">): string {
  return `narthex/log-key/v1\n${previousVerifierKey || "none"}\n${verifierKey}\n${treeSize}\n`;
}
