import {
  type Entry,
  EntrySchema,
  fromBinary,
  type JsonObject,
  type LedgerRecord,
  type RecordContent,
  RecordContentSchema,
  type RecordMessage,
  RecordSchema,
  toHex,
} from "@narthex/contracts";
import { messageToJson } from "../terminal/message-json.ts";
import { spacedJson } from "./json-text.ts";

/** A record read from the ledger. */
export interface RecordView {
  readonly index: number;
  readonly hash: Uint8Array;
  readonly record: RecordMessage;
  readonly content: RecordContent | undefined;
  /** Command, path or address that a call acts on; empty if the record does not tell. */
  readonly subject: string;
}

export function decodeRecord(stored: LedgerRecord): RecordView {
  return {
    index: Number(stored.index),
    hash: stored.hash,
    record: fromBinary(RecordSchema, stored.record),
    content: stored.content.length === 0 ? undefined : fromBinary(RecordContentSchema, stored.content),
    subject: stored.subject,
  };
}

/**
 * Converts a record to JSON: its fields and hash, and of its content only what the commitments refer to, without the
 * bytes.
 */
export function recordToJson(view: RecordView): JsonObject {
  const about = view.subject === "" ? {} : { subject: view.subject };
  const json: JsonObject = { hash: toHex(view.hash), ...about, ...messageToJson(RecordSchema, view.record) };
  if (view.content === undefined) return json;
  const items = messageToJson(RecordContentSchema, view.content)["items"];
  const content = Array.isArray(items) ? items : [];
  for (const item of content) {
    // The nonce keeps erased content from being guessed, so it does not belong in a listing.
    if (typeof item === "object" && item !== null && !Array.isArray(item)) {
      delete item["data"];
      delete item["nonce"];
    }
  }
  return { ...json, content };
}

/** Name of an entry's message field in the form that the docs use: `ToolInvoked`, `PolicyDecision`, ... */
export function entryName(entry: Entry): string {
  const localName = entry.kind.case ?? "unknown";
  return localName.charAt(0).toUpperCase() + localName.slice(1);
}

/** The non-empty fields of an entry. */
export function entryFacts(entry: Entry): (readonly [string, string])[] {
  const [fields] = Object.values(messageToJson(EntrySchema, entry));
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return [];
  return Object.entries(fields)
    .filter(([, value]) => !isDefault(value))
    .map(([name, value]) => [name, spacedJson(value)]);
}

function isDefault(value: unknown): boolean {
  return value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
}
