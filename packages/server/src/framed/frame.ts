/** Bytes that a client sends before its first frame: `NTX1`. */
export const PREFACE: Uint8Array = new Uint8Array([0x4e, 0x54, 0x58, 0x31]);
/** A frame starts with its length, big-endian. */
export const FRAME_HEADER_BYTES = 4;

/** Joins bodies, each after its length, in one array. */
export function joinFrames(bodies: readonly Uint8Array[], totalBytes: number): Uint8Array {
  const joined = Buffer.allocUnsafe(totalBytes + bodies.length * FRAME_HEADER_BYTES);
  let at = 0;
  for (const body of bodies) {
    writeFrameLength(joined, at, body.length);
    joined.set(body, at + FRAME_HEADER_BYTES);
    at += FRAME_HEADER_BYTES + body.length;
  }
  return joined;
}

function writeFrameLength(target: Uint8Array, at: number, length: number): void {
  target[at] = length >>> 24;
  target[at + 1] = length >>> 16;
  target[at + 2] = length >>> 8;
  target[at + 3] = length;
}
