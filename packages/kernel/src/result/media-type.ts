/**
 * Detects an image, audio or document type from the content, not from the file name. Undefined for any other content,
 * and for a file that is visibly incomplete: model providers refuse a conversation with a broken image in every later
 * request.
 */
export function detectMediaType(beginning: Uint8Array, end: Uint8Array): string | undefined {
  const first = latin1(beginning.subarray(0, FIRST_BYTES));
  const last = latin1(end.subarray(-LAST_BYTES));
  return SIGNATURES.find(({ begins, ends }) => begins.test(first) && (ends === undefined || ends.test(last)))?.type;
}

/** Width and height in pixels; undefined if they cannot be determined. */
export function readPixelSize(type: string, bytes: Uint8Array): readonly [number, number] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    switch (type) {
      case "image/png":
        return [view.getUint32(16), view.getUint32(20)];
      case "image/gif":
        return [view.getUint16(6, true), view.getUint16(8, true)];
      case "image/jpeg":
        return jpegPixels(view);
      case "image/webp":
        return webpPixels(view, latin1(bytes.subarray(12, 16)));
      default:
        return undefined;
    }
  } catch {
    // The file ends before its size fields.
    return undefined;
  }
}

interface Signature {
  readonly type: string;
  readonly begins: RegExp;
  readonly ends?: RegExp;
}

const FIRST_BYTES = 32;
const LAST_BYTES = 1024;

const SIGNATURES: readonly Signature[] = [
  { type: "image/png", begins: /^\x89PNG\r\n\x1a\n\0\0\0\rIHDR/, ends: /IEND\xaeB`\x82/ },
  { type: "image/jpeg", begins: /^\xff\xd8\xff/, ends: /\xff\xd9/ },
  { type: "image/gif", begins: /^GIF8[79]a/, ends: /;\0*$/ },
  { type: "image/webp", begins: /^RIFF[^]{4}WEBPVP8[ LX]/ },
  { type: "audio/wav", begins: /^RIFF[^]{4}WAVEfmt / },
  { type: "audio/ogg", begins: /^OggS\0\x02/ },
  { type: "audio/mpeg", begins: /^ID3[\x02-\x04]/ },
  { type: "application/pdf", begins: /^%PDF-[12]\.\d/, ends: /%%EOF\s*$/ },
];

/** The size is in the frame header, after any number of other segments. */
function jpegPixels(view: DataView): readonly [number, number] | undefined {
  for (let at = 2; at + 9 < view.byteLength; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at);
    if (marker >> 8 !== 0xff) return undefined;
    const kind = marker & 0xff;
    const isFrame = kind >= 0xc0 && kind <= 0xcf && kind !== 0xc4 && kind !== 0xc8 && kind !== 0xcc;
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)];
  }
  return undefined;
}

function webpPixels(view: DataView, kind: string): readonly [number, number] | undefined {
  if (kind === "VP8X") return [uint24(view, 24) + 1, uint24(view, 27) + 1];
  if (kind === "VP8 ") return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  const packed = view.getUint32(21, true);
  return kind === "VP8L" ? [(packed & 0x3fff) + 1, ((packed >> 14) & 0x3fff) + 1] : undefined;
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
