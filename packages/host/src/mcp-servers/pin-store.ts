import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import { ownField } from "@narthex/kernel";
import { openPrivateDirectory } from "../system/private-directory.ts";
import { decodeDefinition, type ToolDefinition } from "./tool-definition.ts";

/** The tools of a server as first listed, or as last trusted by a user. */
export interface ServerPins {
  readonly server: string;
  readonly tools: readonly ToolDefinition[];
}

const FORMAT = 1;
const MAX_BYTES = 80 * 1024 * 1024;

/** Directory of the pins in a home, with a private file for each server. */
export function pinsDirectory(home: string): string {
  return join(home, "mcp");
}

/** Reads the pins of a server; undefined if it has none yet. Throws INVALID_DECLARATION for an invalid file. */
export async function readPins(directory: string, server: string): Promise<ServerPins | undefined> {
  const bytes = await readFile(fileOf(directory, server)).catch((fault: unknown) => {
    if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return undefined;
    throw fault;
  });
  if (bytes === undefined) return undefined;
  const tools = decodePins(bytes, server);
  if (tools !== undefined) return { server, tools };
  throw new KernelError(
    "INVALID_DECLARATION",
    `the pinned tools of \`${server}\` cannot be read: look at them again with \`narthex tools trust ${server}\``,
  );
}

/** Writes the pins atomically. */
export async function writePins(directory: string, { server, tools }: ServerPins): Promise<void> {
  const parent = await openPrivateDirectory(directory);
  const draft = join(parent, `.draft-${randomUUID()}`);
  try {
    const text = `${JSON.stringify({ format: FORMAT, server, tools }, undefined, 2)}\n`;
    await writeFile(draft, text, { mode: 0o600, flag: "wx", flush: true });
    await rename(draft, fileOf(parent, server));
  } finally {
    await rm(draft, { force: true });
  }
}

function fileOf(directory: string, server: string): string {
  return join(directory, `${server}.json`);
}

function decodePins(bytes: Uint8Array, server: string): ToolDefinition[] | undefined {
  let json: JsonValue;
  try {
    json = parseJson(bytes);
  } catch {
    return undefined;
  }
  if (!isJsonObject(json) || ownField(json, "format") !== FORMAT || ownField(json, "server") !== server)
    return undefined;
  const listed = ownField(json, "tools");
  if (!Array.isArray(listed)) return undefined;
  const tools = listed.map(decodeDefinition).filter((tool) => tool !== undefined);
  return tools.length === listed.length ? tools : undefined;
}

async function readFile(path: string): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > MAX_BYTES)
      throw new KernelError("INVALID_DECLARATION", `\`${path}\` is no such file`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
