import { type ReadResourceResult, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { isKernelError } from "@narthex/contracts";
import { type ContentPart, contentUri, parseContentUri } from "./content-uri.ts";
import type { McpCaller } from "./mcp-caller.ts";
import type { RecentResults } from "./recent-results.ts";

/**
 * Reads one page of some content, with the URI of the next. Text is cut between characters, so a page may be slightly
 * shorter than requested.
 */
export async function readResource(
  uri: string,
  { caller, recent }: { readonly caller: Pick<McpCaller, "readContent">; readonly recent: RecentResults },
): Promise<ReadResourceResult> {
  const part = parsePart(uri);
  const { bytes, size } = await readPart(part, caller);
  const whole = textOf(bytes, { isEnd: part.offset + bytes.length >= size });
  const taken = whole === undefined ? bytes.length : whole.bytes;
  const end = part.offset + taken;
  const type = recent.typeOf(part.hash);
  const next = end < size && taken > 0 ? { next: contentUri(part.hash, end) } : {};
  const about = {
    uri,
    _meta: { "narthex/size": size, "narthex/offset": part.offset, "narthex/bytes": taken, ...next },
  };
  if (whole !== undefined) return { contents: [{ ...about, mimeType: textType(type), text: whole.text }] };
  const blob = Buffer.from(bytes).toString("base64");
  return { contents: [{ ...about, mimeType: "application/octet-stream", blob }] };
}

function parsePart(uri: string): ContentPart {
  const part = parseContentUri(uri);
  if (part === undefined) {
    throw new ResourceNotFoundError(uri.slice(0, 200), "no resource has this address; see resources/templates/list");
  }
  return part;
}

/** SECURITY: content is named by its hash, but for a session only its own content exists. */
async function readPart(
  part: ContentPart,
  caller: Pick<McpCaller, "readContent">,
): Promise<{ bytes: Uint8Array; size: number }> {
  try {
    const { chunks, size } = await caller.readContent(part.hash, part.offset, part.limit);
    return { bytes: await joined(chunks), size };
  } catch (fault) {
    if (!isKernelError(fault)) throw fault;
    throw new ResourceNotFoundError(contentUri(part.hash), `${fault.code}: ${fault.message}`);
  }
}

/** Reads bytes of some content of the caller's session. */
export async function readBytes(
  caller: Pick<McpCaller, "readContent">,
  hash: Uint8Array,
  offset: number,
  limit: number,
): Promise<Uint8Array> {
  return await joined((await caller.readContent(hash, offset, limit)).chunks);
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read);
}

/** Returns undefined for content that is not text; a character cut in two at the end is left for the next page. */
function textOf(
  bytes: Uint8Array,
  { isEnd }: { readonly isEnd: boolean },
): { text: string; bytes: number } | undefined {
  for (let length = bytes.length; length >= Math.max(0, bytes.length - 3); length--) {
    try {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, length));
      return text.includes("\0") ? undefined : { text, bytes: length };
    } catch {
      if (isEnd) return undefined;
    }
  }
  return undefined;
}

function textType(type: string | undefined): string {
  return type === undefined || type === "application/octet-stream" ? "text/plain" : type;
}
