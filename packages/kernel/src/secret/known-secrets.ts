import { blake3, commitTo, toHex, utf8 } from "@narthex/contracts";
import { replaceSecrets } from "../result/redact.ts";
import type { Redactor } from "../tool/tool.ts";
import { holdsSecret } from "./secret-search.ts";

const NONE: readonly Redactor[] = Object.freeze([]);
/** Length in hex digits of the tag that distinguishes the redacted texts of one secret in records. */
const TAG_LENGTH = 8;
const ID_LENGTH = 32;
const SEAL_LENGTH = 64;
/** Maximum number of derived lists cached per list of redactors. */
const MAX_DERIVED = 64;

/**
 * All secrets that must not be stored in clear: configured ones, and content from the vault.
 *
 * SECURITY: a recorded input has a tag in place of each secret. The tag's key is in no record and no response. So two
 * recorded inputs are equal only if the inputs are, and no caller can produce the recorded form of a correct guess.
 * Tested by "a right guess gets the same response as a wrong one, also when repeated or read back".
 */
export class KnownSecrets {
  readonly #makeKey: () => Uint8Array;
  #madeKey: Uint8Array | undefined;
  readonly #configured: readonly Redactor[];
  #vault: readonly Redactor[] = NONE;
  #all: readonly Redactor[];
  #derived = new WeakMap<readonly Redactor[], Map<string, readonly Redactor[]>>();

  /** `makeKey` is called at most once, when the first secret is found, and returns 32 bytes. */
  constructor(configured: readonly Redactor[], makeKey: () => Uint8Array) {
    this.#configured = configured;
    this.#all = configured;
    this.#makeKey = makeKey;
  }

  /** All redactors. They apply to everything that is stored. */
  get all(): readonly Redactor[] {
    return this.#all;
  }

  /** The configured redactors only, without vault content, of which any word may be a part. */
  get configured(): readonly Redactor[] {
    return this.#configured;
  }

  isIn(bytes: Uint8Array): boolean {
    return holdsSecret(bytes, this.#all);
  }

  /**
   * The redactors for the records of a tool: `ofTool` and those for vault content. Returns `ofTool` itself while no
   * vault content is known.
   */
  redactorsForStorage(ofTool: readonly Redactor[]): readonly Redactor[] {
    if (this.#vault.length === 0) return ofTool;
    return this.#derive(ofTool, "vault", () => [...ofTool, ...this.#vault]);
  }

  /** The list without the redactors that have these replacements. */
  without(redactors: readonly Redactor[], replacements: ReadonlySet<string>): readonly Redactor[] {
    if (!redactors.some(({ replacement }) => replacements.has(replacement))) return redactors;
    const name = `without ${[...replacements].sort().join("\n")}`;
    return this.#derive(redactors, name, () => redactors.filter(({ replacement }) => !replacements.has(replacement)));
  }

  /**
   * Replaces each secret in the text of an input or fact with its replacement and a tag, computed from all bytes hidden
   * there.
   */
  tagText(text: string, redactors: readonly Redactor[]): string {
    return replaceSecrets(text, redactors, ({ redactor }, hidden) =>
      withTag(redactor.replacement, this.#tagOf(hidden)),
    );
  }

  /** The recorded form of an input of which no part can be recorded. It only distinguishes the input from others. */
  sealedInput(canonical: Uint8Array): string {
    return withTag("[input with a secret]", this.#tagOf(canonical, SEAL_LENGTH));
  }

  /** The recorded form of an id that a caller chose: unchanged unless it contains a secret. */
  recordedId(id: string): string {
    if (this.#all.length === 0 || !this.isIn(utf8(id))) return id;
    return `redacted-${this.#tagOf(utf8(id), ID_LENGTH)}`;
  }

  /** The digest to record for bytes that are recorded by digest only. A keyed one if the bytes contain a secret. */
  recordedDigest(bytes: Uint8Array): Uint8Array {
    const digest = blake3(bytes);
    return this.isIn(bytes) ? commitTo(digest, this.#key) : digest;
  }

  /** Adds vault content to the secrets that are redacted from now on. */
  learn(redactor: Redactor): void {
    const known = new Set(this.#vault.flatMap(({ secrets }) => secrets));
    const secrets = redactor.secrets.filter((secret) => !known.has(secret));
    if (secrets.length === 0) return;
    this.#vault = [...this.#vault, { secrets, replacement: redactor.replacement }];
    this.#all = [...this.#configured, ...this.#vault];
    this.#derived = new WeakMap();
  }

  get #key(): Uint8Array {
    this.#madeKey ??= this.#makeKey();
    return this.#madeKey;
  }

  #derive(from: readonly Redactor[], name: string, make: () => readonly Redactor[]): readonly Redactor[] {
    let lists = this.#derived.get(from);
    if (lists === undefined || lists.size >= MAX_DERIVED) {
      lists = new Map();
      this.#derived.set(from, lists);
    }
    const known = lists.get(name) ?? make();
    lists.set(name, known);
    return known;
  }

  #tagOf(bytes: Uint8Array, length = TAG_LENGTH): string {
    return toHex(commitTo(blake3(bytes), this.#key)).slice(0, length);
  }
}

function withTag(replacement: string, tag: string): string {
  return replacement.endsWith("]") ? `${replacement.slice(0, -1)} #${tag}]` : `${replacement}#${tag}`;
}
