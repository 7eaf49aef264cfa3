import type { ContentBlock } from "@modelcontextprotocol/server";
import type { ToolSuccess } from "@narthex/contracts";
import { detectMediaType, readPixelSize } from "@narthex/kernel";

/** Reads bytes of some content of the session, from an offset on. */
export type ContentReader = (hash: Uint8Array, offset: number, limit: number) => Promise<Uint8Array>;

/** In base64 this is the 5 MB that providers accept for a picture. */
const MAX_MEDIA_BYTES = 3_932_160;
/** Providers refuse larger pictures, and with them the whole conversation. */
const MAX_PIXELS = 8000;
/** Matches the view of such a result; a file whose text merely looks like this is recognized by its content. */
const MEDIA_NOTE = /^\[[\d,]+ bytes of [a-z]+\/[a-z]+; hash [0-9a-f]{64}\]$/;
/** Enough bytes to detect the type of the content. */
const PROBE_BYTES = 1024;

/**
 * Returns a picture, a sound or a PDF as media, for models that support it; nothing for any other result. Media that
 * clients could not accept is described instead.
 */
export async function mediaBlocks(success: ToolSuccess, uri: string, read: ContentReader): Promise<ContentBlock[]> {
  const { resultType, inlineResult, resultHash } = success;
  const size = Number(success.resultSize);
  if ((resultType !== "binary" && resultType !== "stream") || !MEDIA_NOTE.test(success.view)) return [];
  const part = async (offset: number, length: number): Promise<Uint8Array> =>
    inlineResult.length > 0 ? inlineResult.subarray(offset, offset + length) : await read(resultHash, offset, length);
  const beginning = await part(0, PROBE_BYTES);
  const type = detectMediaType(beginning, await part(Math.max(0, size - PROBE_BYTES), PROBE_BYTES));
  if (type === undefined) return [];
  if (size > MAX_MEDIA_BYTES) {
    return [textBlock(`It is not shown: ${size} bytes are more than the ${MAX_MEDIA_BYTES} that clients take.`)];
  }
  const bytes = await part(0, size);
  const pixels = readPixelSize(type, bytes);
  if (type.startsWith("image/") && (pixels === undefined || pixels.some((side) => side < 1 || side > MAX_PIXELS))) {
    const found = pixels === undefined ? "its size cannot be read" : `it has ${pixels.join(" × ")} pixels`;
    return [textBlock(`It is not shown: ${found}, and clients take at most ${MAX_PIXELS} × ${MAX_PIXELS}.`)];
  }
  return [mediaBlock(type, Buffer.from(bytes).toString("base64"), uri)];
}

function mediaBlock(mimeType: string, data: string, uri: string): ContentBlock {
  if (mimeType.startsWith("image/")) return { type: "image", mimeType, data };
  if (mimeType.startsWith("audio/")) return { type: "audio", mimeType, data };
  return { type: "resource", resource: { uri, mimeType, blob: data } };
}

function textBlock(text: string): ContentBlock {
  return { type: "text", text };
}
