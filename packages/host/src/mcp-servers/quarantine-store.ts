import { randomUUID } from "node:crypto";
import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import { ownField } from "@narthex/kernel";

/** Quarantined tools of one server: the hash of the changed definition, as hex, by the server's own tool name. */
export type QuarantinedTools = ReadonlyMap<string, string>;

const FORMAT = 1;

/**
 * Reads the tools of a server that changed and were not trusted since.
 *
 * SECURITY: fails closed. "unreadable" means that all tools of the server are quarantined.
 */
export function readQuarantine(directory: string, server: string): QuarantinedTools | "unreadable" {
  try {
    const file = openSync(fileOf(directory, server), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return decode(readFileSync(file)) ?? "unreadable";
    } finally {
      closeSync(file);
    }
  } catch (fault) {
    return fault instanceof Error && "code" in fault && fault.code === "ENOENT" ? new Map() : "unreadable";
  }
}

/** Durable when it returns, so that a kernel killed a moment later finds it at its next start. */
export function writeQuarantine(directory: string, server: string, tools: QuarantinedTools): void {
  const path = fileOf(directory, server);
  if (tools.size === 0) return rmSync(path, { force: true });
  const draft = join(directory, `.draft-${randomUUID()}`);
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeSync(
        file,
        `${JSON.stringify({ format: FORMAT, server, tools: Object.fromEntries(tools) }, undefined, 2)}\n`,
      );
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** INVARIANT: server names contain no dot, so this file cannot collide with the pins of a server. */
function fileOf(directory: string, server: string): string {
  return join(directory, `${server}.quarantine.json`);
}

function decode(bytes: Uint8Array): QuarantinedTools | undefined {
  let json: JsonValue;
  try {
    json = parseJson(bytes);
  } catch {
    return undefined;
  }
  if (!isJsonObject(json) || ownField(json, "format") !== FORMAT) return undefined;
  const tools = ownField(json, "tools");
  if (!isJsonObject(tools)) return undefined;
  const read = new Map<string, string>();
  for (const [name, hash] of Object.entries(tools)) {
    if (typeof hash !== "string") return undefined;
    read.set(name, hash);
  }
  return read;
}
