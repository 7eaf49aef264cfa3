import { isJsonObject, type JsonObject, type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import type { FileChange, FileReading, FileState } from "../workspace-files.ts";

/** Files that a call read and changed, as recorded. SPEC: docs/formats/ledger.md, "Files of a call". */
export interface StoredFileTrace {
  readonly changed: readonly FileChange[];
  readonly read: readonly FileReading[];
  /** Paths that resolved to other paths through links. */
  readonly resolvedLinks: readonly { readonly named: string; readonly opened: string }[];
}

export const EMPTY_FILE_TRACE: StoredFileTrace = { changed: [], read: [], resolvedLinks: [] };

/** Throws CONTENT_DAMAGED. */
export function parseFileTrace(bytes: Uint8Array): StoredFileTrace {
  const json = parseJson(bytes);
  if (!isJsonObject(json)) throw damaged();
  return {
    changed: listIn(json, "changed").map((change) => ({
      path: textIn(change, "path"),
      before: parseFileState(change["before"]),
      after: parseFileState(change["after"]),
    })),
    read: listIn(json, "read").map((reading) => ({
      path: textIn(reading, "path"),
      offset: countIn(reading, "offset"),
      size: countIn(reading, "size"),
      hash: textIn(reading, "hash"),
      ...(reading["of"] !== undefined && { of: countIn(reading, "of") }),
    })),
    resolvedLinks: json["through"] === undefined ? [] : listIn(json, "through").map(parseResolvedLink),
  };
}

function parseFileState(value: JsonValue | undefined): FileState {
  if (!isJsonObject(value)) throw damaged();
  const { kind, hash, size, mode, target } = value as Record<string, JsonValue | undefined>;
  if (kind === "absent" || kind === "other") return { kind };
  if (kind === "link" && typeof target === "string") return { kind, target };
  if (kind === "directory" && typeof mode === "number") return { kind, mode };
  if (kind === "file" && typeof hash === "string" && typeof size === "number" && typeof mode === "number") {
    return { kind, hash, size, mode };
  }
  throw damaged();
}

function parseResolvedLink(entry: JsonObject): { readonly named: string; readonly opened: string } {
  return { named: textIn(entry, "named"), opened: textIn(entry, "opened") };
}

function listIn(json: JsonObject, name: string): JsonObject[] {
  const list = json[name];
  if (!Array.isArray(list)) throw damaged();
  return list.map((entry) => {
    if (!isJsonObject(entry)) throw damaged();
    return entry;
  });
}

function textIn(json: JsonObject, name: string): string {
  const value = json[name];
  if (typeof value !== "string") throw damaged();
  return value;
}

function countIn(json: JsonObject, name: string): number {
  const value = json[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw damaged();
  return value;
}

function damaged(): KernelError {
  return new KernelError("CONTENT_DAMAGED", "the list of a call's files cannot be read");
}
