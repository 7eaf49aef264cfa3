import type { JsonValue } from "@narthex/contracts";
import { type JsonReader, ownField } from "@narthex/kernel";
import type { PinnedFile } from "./program-pin.ts";
import { PROGRAM_LIMITS } from "./tool-manifest.ts";

const HASH = /^[0-9a-f]{64}$/;

/** Reads a file of a tool from its record in the home. Problems are reported to the reader. */
export function readPinnedFileJson(reader: JsonReader, json: JsonValue, field: string): PinnedFile | undefined {
  const object = reader.object(json, field, ["path", "size", "hash", "executable"]);
  if (object === undefined) return undefined;
  const path = reader.name(ownField(object, "path"), `${field}.path`, PROGRAM_LIMITS.wordLength);
  const size = reader.wholeNumber(ownField(object, "size"), `${field}.size`, { min: 0, max: PROGRAM_LIMITS.bytes });
  const hash = ownField(object, "hash");
  const isExecutable = ownField(object, "executable") === true;
  if (typeof hash !== "string" || !HASH.test(hash)) return reader.refuse(`${field}.hash`, "format", "must be a hash");
  return path === undefined || size === undefined ? undefined : { path, size, hash, isExecutable };
}
