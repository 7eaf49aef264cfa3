import type { ByteSource } from "./byte-source.ts";
import { Rejection } from "./meter-reason.ts";
import type { Limits, TableShape } from "./module-shape.ts";
import { EXTERNREF, FUNCREF } from "./value-type.ts";

const HAS_MAXIMUM = 1;
const IS_SHARED = 2;
const IS_64_BIT = 4;
/** First byte of a table with an initial value for its entries. */
const TABLE_WITH_INITIAL = 0x40;

/** Reads the size of a memory and lowers its maximum to the cap. */
export function readMemory(source: ByteSource, capPages: number): Limits {
  const at = source.at;
  const limits = readLimits(source);
  if (limits.initial > capPages)
    throw new Rejection("memory-above-cap", at, `${limits.initial} pages, where ${capPages} are the most`);
  return { initial: limits.initial, maximum: Math.min(limits.maximum, capPages) };
}

export function readTable(source: ByteSource, capEntries: number): TableShape {
  const at = source.at;
  const type = source.byte();
  if (type === TABLE_WITH_INITIAL) throw new Rejection("function-references", at);
  if (type !== FUNCREF && type !== EXTERNREF) throw rejectedType(type, at);
  const limits = readLimits(source);
  if (limits.initial > capEntries)
    throw new Rejection("table-above-cap", at, `${limits.initial} entries, where ${capEntries} are the most`);
  return { type, initial: limits.initial, maximum: Math.min(limits.maximum, capEntries) };
}

function readLimits(source: ByteSource): Limits {
  const at = source.at;
  const flags = source.byte();
  if ((flags & IS_SHARED) !== 0) throw new Rejection("shared-memory", at);
  if ((flags & IS_64_BIT) !== 0) throw new Rejection("memory64", at);
  if (flags > HAS_MAXIMUM) throw new Rejection("invalid", at, "limits of an unknown kind");
  const initial = source.u32();
  return { initial, maximum: flags === HAS_MAXIMUM ? source.u32() : Number.POSITIVE_INFINITY };
}

/** Types with smaller codes than the numeric types are references: abstract heap types, or `(ref ...)`. */
export function rejectedType(type: number, at: number): Rejection {
  return new Rejection(type === 0x63 || type === 0x64 ? "function-references" : "garbage-collection", at);
}
