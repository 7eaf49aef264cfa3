export type ContentKind = "html" | "json" | "xml" | "text";

/** Text types that are not in the MIME sniffing standard of browsers. */
const TEXT_TYPE =
  /^application\/(?:(?:x-)?(?:javascript|ecmascript|typescript|yaml|toml|sh|csh|python|perl|ruby|tex|latex|subrip|mpegurl)|x-www-form-urlencoded|x-httpd-php|graphql|sql|rtf|x-pem-file|pgp-signature|mbox|vnd\.apple\.mpegurl)$/;
const JSON_TYPE = /^(?:application|text)\/(?:json|x-json|ld\+json|x-ndjson|ndjson|jsonl|json5|json-seq|.+\+json)$/;
const XML_TYPE = /^(?:(?:application|text)\/xml|[a-z]+\/.+\+xml)$/;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;
/** Types that servers send when they do not know the type. */
const UNKNOWN_TYPE = /^(?:|application\/octet-stream|unknown\/unknown|application\/unknown|\*\/\*)$/;

/**
 * Determines the kind of a page from its Content-Type header or, if that is inconclusive, from its first bytes. Returns
 * undefined if it is not text.
 */
export function contentKind(contentType: string | undefined, bytes: Uint8Array): ContentKind | undefined {
  const type = essenceOf(contentType);
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES));
  if (MAGIC.some((magic) => head.toString("latin1", 0, magic.length) === magic)) return undefined;
  const isWide = hasWideMark(head) || /charset\s*=\s*"?utf-16/i.test(contentType ?? "");
  const share = isWide ? 0 : binaryShare(head);
  const declared = kindOf(type);
  if (declared !== undefined && declared !== "text") return share <= TOLERATED_SHARE ? declared : undefined;
  if (share > 0) return undefined;
  if (declared === "text") return "text";
  if (!UNKNOWN_TYPE.test(type)) return undefined;
  return sniff(head.toString("latin1"));
}

function essenceOf(contentType: string | undefined): string {
  return (contentType ?? "").split(";", 1).join("").trim().toLowerCase();
}

function kindOf(type: string): ContentKind | undefined {
  if (HTML_TYPE.test(type)) return "html";
  if (JSON_TYPE.test(type)) return "json";
  if (XML_TYPE.test(type)) return "xml";
  return type.startsWith("text/") || TEXT_TYPE.test(type) ? "text" : undefined;
}

/** Sniffs the type as browsers do for content without one. */
function sniff(head: string): ContentKind {
  const start = head.replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, "");
  if (start.startsWith("<?xml")) return "xml";
  if (/^<(?:!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|!--)[\s>]/i.test(start)) {
    return "html";
  }
  return /^[[{]/.test(start) ? "json" : "text";
}

const HEAD_BYTES = 1445;
/** A page with a declared type may contain some stray control characters. */
const TOLERATED_SHARE = 0.1;

const MAGIC = [
  "\x89PNG\r\n\x1a\n",
  "GIF87a",
  "GIF89a",
  "\xff\xd8\xff",
  "%PDF-",
  "PK\x03\x04",
  "\x1f\x8b\x08",
  "BZh",
  "\xfd7zXZ\0",
  "7z\xbc\xaf\x27\x1c",
  "\x28\xb5\x2f\xfd",
  "\x7fELF",
  "\0asm",
  "OggS",
  "fLaC",
  "ID3",
  "wOFF",
  "wOF2",
  "SQLite format 3\0",
];

function hasWideMark(head: Buffer): boolean {
  return (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
}

function binaryShare(head: Buffer): number {
  const binary = head.filter((byte) => byte < 0x20 && !TEXT_CONTROLS.has(byte)).length;
  return head.length === 0 ? 0 : binary / head.length;
}

/** Tab, line feed, form feed, carriage return, escape. */
const TEXT_CONTROLS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);
