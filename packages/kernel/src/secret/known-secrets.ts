import { blake3, commitTo, toHex, utf8 } from "@narthex/contracts";
import { replaceSecrets } from "../result/redact.ts";
import type { Redactor } from "../tool/tool.ts";
import { holdsSecret } from "./secret-search.ts";

const NONE: readonly Redactor[] = Object.freeze([]);
/** Hex digits that tell one form of a secret from another in what is recorded. */
const TAG_LENGTH = 8;
const ID_LENGTH = 32;
const SEAL_LENGTH = 64;
/** Lists that are made of others are built once, and few. */
const MAX_DERIVED = 64;

/**
 * Every secret that must not be stored in clear: those that are configured, and content that the vault gave.
 *
 * SECURITY: a recorded input has a tag in each secret's place, made with a key that is in no record and no answer. So two
 * inputs are recorded alike only if they are alike, and no caller can write the recorded form of a right guess. Tested by
 * "a right guess is answered like a wrong one, also when it is repeated or read back".
 */
export class KnownSecrets {
  readonly #makeKey: () => Uint8Array;
  #madeKey: Uint8Array | undefined;
  readonly #configured: readonly Redactor[];
  #vault: readonly Redactor[] = NONE;
  #all: readonly Redactor[];
  #derived = new WeakMap<readonly Redactor[], Map<string, readonly Redactor[]>>();

  /** `makeKey` is asked for 32 bytes at most once, when a secret is found. */
  constructor(configured: readonly Redactor[], makeKey: () => Uint8Array) {
    this.#configured = configured;
    this.#all = configured;
    this.#makeKey = makeKey;
  }

  /** Everything that is hidden wherever it is stored. */
  get all(): readonly Redactor[] {
    return this.#all;
  }

  /** The same without content of the vault, of which any word may be a part. */
  get configured(): readonly Redactor[] {
    return this.#configured;
  }

  isIn(bytes: Uint8Array): boolean {
    return holdsSecret(bytes, this.#all);
  }

  /** What is hidden in the records of a tool with these redactors. The very same list while nothing of the vault is known. */
  redactorsForStorage(ofTool: readonly Redactor[]): readonly Redactor[] {
    if (this.#vault.length === 0) return ofTool;
    return this.#derive(ofTool, "vault", () => [...ofTool, ...this.#vault]);
  }

  /** The same list without these, which are named by their replacements. */
  without(redactors: readonly Redactor[], replacements: ReadonlySet<string>): readonly Redactor[] {
    if (!redactors.some(({ replacement }) => replacements.has(replacement))) return redactors;
    const name = `without ${[...replacements].sort().join("\n")}`;
    return this.#derive(redactors, name, () => redactors.filter(({ replacement }) => !replacements.has(replacement)));
  }

  /** The text with a tag in each secret's place, for inputs and facts. The tag is of all that is hidden there. */
  tagText(text: string, redactors: readonly Redactor[]): string {
    return replaceSecrets(text, redactors, ({ redactor }, hidden) =>
      withTag(redactor.replacement, this.#tagOf(hidden)),
    );
  }

  /** An input as it is recorded if no part of it can be: told apart from every other, and no more. */
  sealedInput(canonical: Uint8Array): string {
    return withTag("[input with a secret]", this.#tagOf(canonical, SEAL_LENGTH));
  }

  /** An id that a caller chose, as it is recorded: itself unless a secret is in it. */
  recordedId(id: string): string {
    if (this.#all.length === 0 || !this.isIn(utf8(id))) return id;
    return `redacted-${this.#tagOf(utf8(id), ID_LENGTH)}`;
  }

  /** Of bytes that are recorded by their digest alone: their own, unless a secret is in them. */
  recordedDigest(bytes: Uint8Array): Uint8Array {
    const digest = blake3(bytes);
    return this.isIn(bytes) ? commitTo(digest, this.#key) : digest;
  }

  /** From now on what is stored is searched for this, too. */
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
