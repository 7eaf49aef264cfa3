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

/** A record as it was read from the ledger. */
export interface RecordView {
  readonly index: number;
  readonly hash: Uint8Array;
  readonly record: RecordMessage;
  readonly content: RecordContent | undefined;
  /** What a call acts on: its command, path or address; empty where the record does not tell. */
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

/** The record's fields beside its hash; of its content what the commitments point at, without the bytes. */
export function recordToJson(view: RecordView): JsonObject {
  const about = view.subject === "" ? {} : { subject: view.subject };
  const json: JsonObject = { hash: toHex(view.hash), ...about, ...messageToJson(RecordSchema, view.record) };
  if (view.content === undefined) return json;
  const items = messageToJson(RecordContentSchema, view.content)["items"];
  const content = Array.isArray(items) ? items : [];
  for (const item of content) {
    // The nonce is what keeps erased content from being guessed back: it is no business of a listing.
    if (typeof item === "object" && item !== null && !Array.isArray(item)) {
      delete item["data"];
      delete item["nonce"];
    }
  }
  return { ...json, content };
}

/** `ToolInvoked`, `PolicyDecision`, ...: the name of an entry's message field in the form the documents use. */
export function entryName(entry: Entry): string {
  const localName = entry.kind.case ?? "unknown";
  return localName.charAt(0).toUpperCase() + localName.slice(1);
}

/** An entry's fields that say something. */
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
