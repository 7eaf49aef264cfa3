import { isUtf8 } from "node:buffer";
import type { ContentKind } from "./content-kind.ts";

export interface DecodedPage {
  readonly text: string;
  /** WHATWG name of the encoding. */
  readonly charset: string;
}

/**
 * Decodes a page as browsers do: by the byte order mark, then the header, then the page's own declaration in its first
 * bytes; otherwise as UTF-8 if it is valid, else as windows-1252. Bytes that cannot be decoded are replaced; it never
 * throws.
 */
export function decodePage(bytes: Uint8Array, contentType: string | undefined, kind: ContentKind): DecodedPage {
  const charset =
    charsetByMark(bytes) ??
    charsetByHeader(contentType) ??
    (kind === "html" || kind === "xml" ? charsetByPage(bytes) : undefined) ??
    (isUtf8(bytes) ? "utf-8" : "windows-1252");
  return { text: new TextDecoder(charset).decode(bytes), charset };
}

function charsetByMark(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

function charsetByHeader(contentType: string | undefined): string | undefined {
  return named(/;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]*))/i.exec(contentType ?? "")?.slice(1));
}

/**
 * Finds the encoding that the page declares. A page whose declaration can be read byte by byte cannot be UTF-16, so
 * that label is overruled.
 */
function charsetByPage(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES))
    .toString("latin1")
    .replaceAll(/<!--[^]*?(?:-->|$)/g, "");
  const declared =
    named(/^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(head)?.slice(1)) ?? charsetByMeta(head);
  if (declared?.startsWith("utf-16") === true) return "utf-8";
  return declared === "x-user-defined" ? "windows-1252" : declared;
}

function charsetByMeta(head: string): string | undefined {
  for (const [tag] of head.matchAll(/<meta[\s/][^>]*>/gi)) {
    const direct = named(/[\s/"']charset\s*=\s*(?:["']([^"']*)["']|([^\s"'>]+))/i.exec(tag)?.slice(1));
    if (direct !== undefined) return direct;
    if (!/http-equiv\s*=\s*["']?content-type/i.test(tag)) continue;
    const equivalent = named(/charset\s*=\s*([^\s"';>]+)/i.exec(tag)?.slice(1));
    if (equivalent !== undefined) return equivalent;
  }
  return undefined;
}

/** Returns the encoding of the first label found; undefined if the label is unknown. */
function named(labels: ReadonlyArray<string | undefined> | undefined): string | undefined {
  const label = labels?.find((found) => found !== undefined);
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

const HEAD_BYTES = 1024;
