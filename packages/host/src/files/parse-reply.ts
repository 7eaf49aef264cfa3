import { isJsonObject, type JsonObject, type JsonValue, MAX_PATH_LEN } from "@narthex/contracts";
import type { ListedEntry } from "@narthex/kernel";
import {
  FAULT_CODES,
  FAULT_REASONS,
  type FaultCode,
  type FaultReason,
  type Item,
  type ItemState,
  type WorkerReply,
} from "./worker/messages.ts";

/**
 * Parses a message of a worker. Throws a TypeError for an invalid one.
 *
 * SECURITY: a worker processes untrusted files and may be compromised. Its statements about the workspace cannot be
 * verified, but it can do no more than lie about it: paths stay relative and inside, numbers are numbers, and none of
 * its own text is ever displayed.
 */
export function parseReply(header: unknown): WorkerReply {
  const reply = requireObject(header);
  switch (reply["type"]) {
    case "ready":
      return { type: "ready", device: requireDigits(reply["device"]), inode: requireDigits(reply["inode"]) };
    case "prepared":
      return {
        type: "prepared",
        items: requireArray(reply["items"], MAX_ITEMS).map(parseItem),
        inline: reply["inline"] === true,
        held: reply["held"] === true,
        occurrences: requireCount(reply["occurrences"] ?? 0),
        lines: requireArray(reply["lines"] ?? [], MAX_LINES).map(requireCount),
      };
    case "chunk":
      return { type: "chunk" };
    case "entries":
      return { type: "entries", total: requireCount(reply["total"]), partial: reply["partial"] === true };
    case "done":
      return {
        type: "done",
        mode: requireMode(reply["mode"]),
        made: requireArray(reply["made"], MAX_MADE).map(parseItem),
      };
    case "failed":
      return {
        type: "failed",
        code: requireOneOf<FaultCode>(FAULT_CODES, reply["code"]),
        reason: requireOneOf<FaultReason>(FAULT_REASONS, reply["reason"]),
        unchanged: reply["unchanged"] === true,
        errno: /^E[A-Z0-9]{1,15}$/.exec(requireText(reply["errno"] ?? "EUNKNOWN"))?.[0] ?? "EUNKNOWN",
        count: requireCount(reply["count"] ?? 0),
        lines: requireArray(reply["lines"] ?? [], MAX_LINES).map(requireCount),
      };
    default:
      throw new TypeError("unknown reply");
  }
}

export function parseItem(value: unknown): Item {
  const item = requireObject(value);
  return { path: requirePath(item["path"]), state: parseState(requireObject(item["state"])) };
}

export function parseListed(value: unknown): ListedEntry {
  const entry = requireObject(value);
  return {
    name: requirePath(entry["name"]),
    isExact: entry["isExact"] === true,
    kind: requireOneOf(["file", "directory", "link", "other"] as const, entry["kind"]),
    size: requireCount(entry["size"]),
  };
}

const MAX_ITEMS = 2;
const MAX_LINES = 1000;
const MAX_MADE = 4096;

function parseState(state: JsonObject): ItemState {
  switch (state["kind"]) {
    case "absent":
      return { kind: "absent" };
    case "file":
      return { kind: "file", size: requireCount(state["size"]), mode: requireMode(state["mode"]) };
    case "directory":
      return { kind: "directory", mode: requireMode(state["mode"]) };
    case "link":
      return { kind: "link", target: requireText(state["target"]) };
    case "other":
      return { kind: "other" };
    default:
      throw new TypeError("unknown state");
  }
}

function requirePath(value: unknown): string {
  const path = requireText(value);
  if (path === ".") return path;
  const isInside = path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  if (!isInside || path.includes("\0")) throw new TypeError("not a path inside");
  return path;
}

function requireObject(value: unknown): JsonObject {
  const json = value as JsonValue;
  if (!isJsonObject(json)) throw new TypeError("not an object");
  return json;
}

function requireArray(value: unknown, maxLength: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > maxLength) throw new TypeError("not an array of that length");
  return value;
}

function requireText(value: unknown): string {
  if (typeof value !== "string" || value.length > MAX_PATH_LEN || !value.isWellFormed())
    throw new TypeError("not a text");
  return value;
}

function requireDigits(value: unknown): string {
  const text = requireText(value);
  if (!/^\d{1,20}$/.test(text)) throw new TypeError("not a number in digits");
  return text;
}

function requireCount(value: unknown): number {
  if (!Number.isSafeInteger(value) || Number(value) < 0) throw new TypeError("not a count");
  return Number(value);
}

function requireMode(value: unknown): number {
  const mode = requireCount(value);
  if (mode > 0o7777) throw new TypeError("not a mode");
  return mode;
}

function requireOneOf<Name extends string>(names: readonly Name[], value: unknown): Name {
  const found = names.find((name) => name === value);
  if (found === undefined) throw new TypeError("not one of the known words");
  return found;
}
