import type { Redactor } from "../tool/tool.ts";

/** Below this, what is left of a secret in base64 would be found in text that has nothing to do with it. */
const MIN_FORM_LENGTH = 6;

/** Hides a secret, and the forms in which programs usually hand one on. */
export function secretRedactor(name: string, value: string): Redactor {
  return { secrets: secretForms(value), replacement: `[secret ${name}]` };
}

/**
 * The secret as it is, in JSON, in a URL, in hex and in base64.
 *
 * SECURITY: these are the forms of honest programs: a header echoed by a server, a URL in an error. A program that wants
 * to give its secret away can always write it in a form that nobody has thought of.
 */
export function secretForms(value: string): string[] {
  const bytes = Buffer.from(value);
  const escaped = JSON.stringify(value).slice(1, -1);
  const forms = [
    value,
    // A key of several lines that is kept in one, as programs use it.
    value.replaceAll("\\n", "\n"),
    // As a part of a host's name.
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

/** As Python and others write JSON. */
function escapeNonAscii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function urlForms(value: string): string[] {
  const component = encodeURIComponent(value);
  // Python and others also encode what encodeURIComponent leaves alone.
  const strict = component.replaceAll(/[!'()*~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const lower = (text: string): string => text.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const withSlash = strict.replaceAll("%2F", "/");
  return [component, strict, form, withSlash, ...[component, strict, form, withSlash].map(lower), encodeURI(value)];
}

/**
 * What base64 makes of the secret wherever it begins in a group of three bytes: without the characters that it shares
 * with its neighbours, and so found inside a longer text, such as `user:secret` in a header.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    // Each character holds six bits; only those of the secret alone are always the same.
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const own = encoded.slice(first, last);
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
