import type { ContentBlock } from "@modelcontextprotocol/server";
import type { ToolSuccess } from "@narthex/contracts";

interface Signature {
  readonly kind: "image" | "audio";
  readonly mimeType: string;
  /** The beginning, as Latin-1; a dot is any byte. */
  readonly begins: RegExp;
}

const SIGNATURES: readonly Signature[] = [
  { kind: "image", mimeType: "image/png", begins: /^\x89PNG\r\n\x1a\n/ },
  { kind: "image", mimeType: "image/jpeg", begins: /^\xff\xd8\xff/ },
  { kind: "image", mimeType: "image/gif", begins: /^GIF8[79]a/ },
  { kind: "image", mimeType: "image/webp", begins: /^RIFF....WEBP/s },
  { kind: "audio", mimeType: "audio/wav", begins: /^RIFF....WAVE/s },
  { kind: "audio", mimeType: "audio/ogg", begins: /^OggS/ },
  { kind: "audio", mimeType: "audio/mpeg", begins: /^ID3/ },
];

const LONGEST_BEGINNING = 16;

/** A result that is a picture or a sound, for models that see or hear; undefined for any other. */
export function mediaBlock({ resultType, inlineResult }: ToolSuccess): ContentBlock | undefined {
  if (resultType !== "binary" || inlineResult.length === 0) return undefined;
  const beginning = Buffer.from(inlineResult.subarray(0, LONGEST_BEGINNING)).toString("latin1");
  const found = SIGNATURES.find(({ begins }) => begins.test(beginning));
  if (found === undefined) return undefined;
  const { kind: type, mimeType } = found;
  return { type, mimeType, data: Buffer.from(inlineResult).toString("base64") };
}
