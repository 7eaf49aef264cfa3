import { blake3, canonicalJsonBytes, type JsonObject, type JsonValue, toHex } from "@narthex/contracts";
import { joinField, type JsonReader, ownField } from "@narthex/kernel";
import { METER_VERSION } from "@narthex/meter";
import type { PinnedFile } from "./program-pin.ts";
import { readPinnedFileJson } from "./read-pinned-file.ts";

/** A WebAssembly module as pinned when its tool was added. */
export interface WasmPin {
  readonly kind: "wasm";
  readonly module: PinnedFile;
}

/**
 * Returns the hash of a module for the tool's definition: the same bytes under the same metering give the same hash.
 */
export function hashModule({ module }: WasmPin): string {
  const { size, hash } = module;
  return toHex(blake3(canonicalJsonBytes({ kind: "wasm", module: { size, hash }, meter: METER_VERSION })));
}

export function wasmToJson({ module: { path, size, hash } }: WasmPin): JsonObject {
  return { module: { path, size, hash, executable: false } };
}

/** Reads a pin from the home. Problems are reported to the reader. */
export function readWasmPin(reader: JsonReader, json: JsonValue | undefined, field: string): WasmPin | undefined {
  const object = reader.object(json, field, ["module"]);
  const given = object && ownField(object, "module");
  const module = given === undefined ? undefined : readPinnedFileJson(reader, given, joinField(field, "module"));
  return module && { kind: "wasm", module };
}
