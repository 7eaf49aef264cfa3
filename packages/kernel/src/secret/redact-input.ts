import { canonicalJson, type JsonValue, sharedUtf8 } from "@narthex/contracts";
import { replaceTexts } from "../result/redact.ts";
import type { Redactor } from "../tool/tool.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { searchFor } from "./secret-search.ts";

/** An input with its secrets redacted: the form that is recorded, and that policy and people see. */
export interface RedactedInput {
  readonly value: JsonValue;
  readonly bytes: Uint8Array;
  /** The secrets that were found, by their replacements. */
  readonly found: ReadonlySet<string>;
}

/** Redacts the secrets in an input. Undefined if it contains none, which takes one pass over its canonical bytes. */
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
  // SECURITY: a secret may be part of its own replacement, so the whole input is sealed. Approvals and the detection of
  // repeated requests can still distinguish such inputs.
  const value = secrets.sealedInput(bytes);
  return { value, bytes: sharedUtf8(canonicalJson(value)), found };
}

/**
 * The input with its texts redacted; then, for a secret that is a number or spans several parts of the input, the whole
 * input as one redacted text.
 */
function* recordedForms(input: JsonValue, bytes: Uint8Array, tag: (text: string) => string): Generator<JsonValue> {
  yield replaceTexts(input, tag);
  yield tag(Buffer.from(bytes).toString());
}
