import { canonicalJson, type JsonValue, sharedUtf8 } from "@narthex/contracts";
import { replaceTexts } from "../result/redact.ts";
import type { Redactor } from "../tool/tool.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { searchFor } from "./secret-search.ts";

/** An input with secrets in it, as it is recorded and as policy and people see it. */
export interface RedactedInput {
  readonly value: JsonValue;
  readonly bytes: Uint8Array;
  /** The secrets that were found, by their replacements. */
  readonly found: ReadonlySet<string>;
}

/** Undefined if no secret is in the input: that takes one pass over its canonical bytes. */
export function redactInput(
  input: JsonValue,
  bytes: Uint8Array,
  ofTool: readonly Redactor[],
  secrets: KnownSecrets,
): RedactedInput | undefined {
  const stored = secrets.redactorsForStorage(ofTool);
  const search = searchFor(stored);
  let hit = search.next(bytes, 0);
  if (hit === undefined) return undefined;
  const found = new Set<string>();
  for (; hit !== undefined; hit = search.next(bytes, hit.at + 1)) found.add(hit.form.redactor.replacement);
  for (const value of recordedForms(input, bytes, (text) => secrets.tagText(text, stored))) {
    const redacted = sharedUtf8(canonicalJson(value));
    if (search.next(redacted, 0) === undefined) return { value, bytes: redacted, found };
  }
  // SECURITY: a secret may be a part of its own replacement. Approvals and repeats still tell such inputs apart.
  const value = secrets.sealedInput(bytes);
  return { value, bytes: sharedUtf8(canonicalJson(value)), found };
}

/**
 * The input with its texts redacted; or, where a secret is a number or is made of several parts of the input, all of it
 * as one redacted text.
 */
function* recordedForms(input: JsonValue, bytes: Uint8Array, tag: (text: string) => string): Generator<JsonValue> {
  yield replaceTexts(input, tag);
  yield tag(Buffer.from(bytes).toString());
}
