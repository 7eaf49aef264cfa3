import { readFile } from "node:fs/promises";
import { blake3, toHex } from "@narthex/contracts";
import type { WasmCall } from "@narthex/kernel";

const MODULE = new URL("../../../examples/wasm/wat/checksum.wasm", import.meta.url);

/** A small tool: the checksum of a short text, with one host call. */
export async function checksumCall(place: string): Promise<WasmCall> {
  const bytes = await readFile(MODULE);
  return {
    module: { hash: toHex(blake3(bytes)), read: () => Promise.resolve(bytes) },
    place,
    allowsSimd: false,
    limits: { fuel: 1e10, memoryBytes: 64 * 1024 * 1024 },
    input: Buffer.from('"hello"'),
  };
}

export const CHECKSUM_MODULE = MODULE;
export const CHECKSUM_ANSWER = 156_369_497;
