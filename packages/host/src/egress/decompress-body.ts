import { pipeline, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { KernelError } from "@narthex/contracts";
import type { IncomingBody } from "./incoming-body.ts";

/** What one can ask for: each of these is undone. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";
const MAX_ENCODINGS = 2;

const DECODERS = new Map<string, () => Decoder>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** What tells how much of the packed body it was given. */
type Decoder = Transform & { readonly bytesWritten: number };

/**
 * A body as it was before it was packed.
 *
 * SECURITY: it is unpacked piece by piece, and its reader counts: a small body that holds an endless one is cut off.
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
  // Faults come out at the end of the chain, where it is read.
  const last = decoders.reduce<AsyncIterable<Uint8Array>>(
    (from, decoder) => pipeline(from, decoder, () => undefined),
    body,
  );
  return unlessEmpty(last, first);
}

/** A body that is not there, as after HEAD, was not packed either, whatever the header says. */
async function* unlessEmpty(unpacked: AsyncIterable<Uint8Array>, first: Decoder): AsyncGenerator<Uint8Array> {
  try {
    yield* unpacked;
  } catch (fault) {
    const isCut = fault instanceof Error && "code" in fault && fault.code === "Z_BUF_ERROR";
    if (!isCut || first.bytesWritten > 0) throw fault;
  }
}
