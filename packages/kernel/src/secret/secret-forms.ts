import type { Redactor } from "../tool/tool.ts";

/** Minimum length of a base64 fragment; shorter ones would match unrelated text. */
const MIN_FORM_LENGTH = 6;

/** Creates a redactor for a secret and the encodings in which programs usually pass one on. */
export function secretRedactor(name: string, value: string): Redactor {
  return { secrets: secretForms(value), replacement: `[secret ${name}]` };
}

/**
 * The secret as it is, in JSON, in a URL, in hex and in base64.
 *
 * SECURITY: these forms cover honest programs: a header echoed by a server, a URL in an error. A program that wants to
 * leak its secret can always use another encoding.
 */
export function secretForms(value: string): string[] {
  const bytes = Buffer.from(value);
  const escaped = JSON.stringify(value).slice(1, -1);
  const forms = [
    value,
    // A key of several lines that is stored in one, in the form programs use.
    value.replaceAll("\\n", "\n"),
    // As part of a host name.
    value.toLowerCase(),
    escaped,
    escapeNonAscii(escaped),
    escapeNonAscii(escaped).replaceAll("/", "\\/"),
    escaped.replaceAll("/", "\\/"),
    ...urlForms(value),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...base64Forms(bytes),
  ];
  return [...new Set(forms)].filter((form) => form === value || form.length >= MIN_FORM_LENGTH);
}

/** JSON with non-ASCII characters escaped, as Python and others write it. */
function escapeNonAscii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function urlForms(value: string): string[] {
  const component = encodeURIComponent(value);
  // Python and others also encode characters that encodeURIComponent does not.
  const strict = component.replaceAll(/[!'()*~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const lower = (text: string): string => text.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const withSlash = strict.replaceAll("%2F", "/");
  return [component, strict, form, withSlash, ...[component, strict, form, withSlash].map(lower), encodeURI(value)];
}

/**
 * The base64 forms of the secret for each position in a group of three bytes, without the characters that it shares
 * with adjacent bytes. So it is also found inside longer text, such as `user:secret` in a header.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    // Each character encodes six bits; only those made of the secret's bits alone are constant.
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const own = encoded.slice(first, last);
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
