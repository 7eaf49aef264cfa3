import { fromHex, toHex } from "@narthex/contracts";

/** A part of some content, as named by a resource URI. */
export interface ContentPart {
  readonly hash: Uint8Array;
  readonly offset: number;
  readonly limit: number;
}

/** Maximum size of a resource in one message, unless less is requested. */
const PAGE_BYTES = 256 * 1024;
const MAX_PAGE_BYTES = 1024 * 1024;

export const CONTENT_TEMPLATE = "narthex://content/{hash}{?offset,limit}";

const FORM = /^narthex:\/\/content\/([0-9a-f]{64})(?:\?([a-z0-9=&]{1,80}))?$/;
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,15})$/;

export function contentUri(hash: Uint8Array, offset = 0): string {
  return `narthex://content/${toHex(hash)}${offset === 0 ? "" : `?offset=${offset}`}`;
}

/** Returns undefined if the URI does not name content of a kernel. */
export function parseContentUri(uri: string): ContentPart | undefined {
  const [, hex = "", query = ""] = FORM.exec(uri) ?? [];
  const hash = fromHex(hex);
  if (hash === undefined || hash.length !== 32) return undefined;
  const asked = new URLSearchParams(query);
  const isKnown = [...asked.keys()].every((key, at, keys) => isPart(key) && keys.indexOf(key) === at);
  if (!isKnown) return undefined;
  const offset = wholeNumber(asked.get("offset"), 0);
  const limit = wholeNumber(asked.get("limit"), PAGE_BYTES);
  if (offset === undefined || limit === undefined) return undefined;
  return { hash, offset, limit: Math.min(Math.max(1, limit), MAX_PAGE_BYTES) };
}

function isPart(key: string): boolean {
  return key === "offset" || key === "limit";
}

function wholeNumber(text: string | null, absent: number): number | undefined {
  if (text === null) return absent;
  return WHOLE_NUMBER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}
