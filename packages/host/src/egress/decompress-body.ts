import { pipeline, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { KernelError } from "@narthex/contracts";
import type { IncomingBody } from "./incoming-body.ts";

/** Value of Accept-Encoding: all encodings that can be decoded. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";
const MAX_ENCODINGS = 2;

const DECODERS = new Map<string, () => Decoder>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** A decoder reports how much of the compressed body it received. */
type Decoder = Transform & { readonly bytesWritten: number };

/**
 * Returns the decompressed body.
 *
 * SECURITY: it is decompressed chunk by chunk while its reader counts the bytes, so a decompression bomb is cut off.
 */
export function decompressBody(body: IncomingBody, encoding: string): AsyncIterable<Uint8Array> {
  if (encoding === "") return body;
  const names = encoding
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  const decoders = names.reverse().flatMap((name) => DECODERS.get(name)?.() ?? []);
  if (names.length > MAX_ENCODINGS || decoders.length < names.length) {
    body.destroy();
    throw new KernelError("UPSTREAM_ERROR", `the answer is packed as \`${encoding.slice(0, 80)}\``);
  }
  const [first] = decoders;
  if (first === undefined) return body;
  // All errors surface at the end of the chain, where it is read.
  const last = decoders.reduce<AsyncIterable<Uint8Array>>(
    (from, decoder) => pipeline(from, decoder, () => undefined),
    body,
  );
  return unlessEmpty(last, first);
}

/** Accepts an empty body, as after HEAD, whatever encoding the header names. */
async function* unlessEmpty(unpacked: AsyncIterable<Uint8Array>, first: Decoder): AsyncGenerator<Uint8Array> {
  try {
    yield* unpacked;
  } catch (fault) {
    const isCut = fault instanceof Error && "code" in fault && fault.code === "Z_BUF_ERROR";
    if (!isCut || first.bytesWritten > 0) throw fault;
  }
}
