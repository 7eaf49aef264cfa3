import { blake3, canonicalJsonBytes, type JsonObject, type JsonValue, toHex } from "@narthex/contracts";
import { joinField, type JsonReader, ownField } from "@narthex/kernel";
import { METER_VERSION } from "@narthex/meter";
import type { PinnedFile } from "./program-pin.ts";
import { readPinnedFileJson } from "./read-pinned-file.ts";

/** A module as it was when it was added. */
export interface WasmPin {
  readonly kind: "wasm";
  readonly module: PinnedFile;
}

/** What a definition says of its module: the same bytes under the same meter give the same hash. */
export function hashModule({ module }: WasmPin): string {
  const { size, hash } = module;
  return toHex(blake3(canonicalJsonBytes({ kind: "wasm", module: { size, hash }, meter: METER_VERSION })));
}

export function wasmToJson({ module: { path, size, hash } }: WasmPin): JsonObject {
  return { module: { path, size, hash, executable: false } };
}

/** Reads one from the home. Problems are noted with the reader. */
export function readWasmPin(reader: JsonReader, json: JsonValue | undefined, field: string): WasmPin | undefined {
  const object = reader.object(json, field, ["module"]);
  const given = object && ownField(object, "module");
  const module = given === undefined ? undefined : readPinnedFileJson(reader, given, joinField(field, "module"));
  return module && { kind: "wasm", module };
}
