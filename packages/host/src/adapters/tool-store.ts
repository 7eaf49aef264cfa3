import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { blake3, KernelError, toHex } from "@narthex/contracts";
import { openPrivateDirectory } from "../system/private-directory.ts";
import { removeOwnTree } from "../system/remove-own-tree.ts";
import { type AddedTool, addedToolId, type CandidateTool, listPinnedFiles, type ToolPin } from "./added-tool.ts";
import type { PinnedFile } from "./program-pin.ts";
import { decodeToolRecord, encodeToolRecord } from "./tool-record.ts";

/** A tool in the home and the location of its files. */
export interface StoredTool<Pin extends ToolPin = ToolPin> extends AddedTool<Pin> {
  readonly directory: string;
}

export interface ToolListing {
  readonly tools: readonly StoredTool[];
  /** Tools that cannot be read, by the name of their directory. */
  readonly problems: readonly { readonly id: string; readonly message: string }[];
}

const RECORD = "tool.json";
const FILES = "files";
const MAX_RECORD_BYTES = 4 * 1024 * 1024;
/** `name@version`. Any other entry of the directory is an unfinished draft. */
const TOOL_ID = /^[a-z][a-z0-9_]{0,63}@[0-9A-Za-z.-]{1,100}$/;

/**
 * Stores a tool in the home, atomically. Returns `unchanged` if the identical tool is stored already. Throws
 * ALREADY_REGISTERED if a different tool has the same name and version and is not to be replaced.
 */
export async function storeTool(
  directory: string,
  tool: CandidateTool,
  options: { readonly replace: boolean },
): Promise<"added" | "replaced" | "unchanged"> {
  const parent = await openPrivateDirectory(directory);
  const id = addedToolId(tool);
  const place = join(parent, id);
  const record = encodeToolRecord(tool);
  const known = await readBounded(join(place, RECORD), MAX_RECORD_BYTES).catch(ifMissing);
  if (known !== undefined && Buffer.from(known).toString() === record) return "unchanged";
  if (known !== undefined && !options.replace) {
    throw new KernelError(
      "ALREADY_REGISTERED",
      `${id} was added already, and is another one: give it a higher version`,
    );
  }
  const draft = join(parent, `.draft-${randomUUID()}`);
  try {
    await mkdir(join(draft, FILES), { recursive: true, mode: 0o700 });
    for (const { path, hash } of listPinnedFiles(tool)) {
      const bytes = tool.bytes.get(path) ?? new Uint8Array(0);
      // Named after its hash: no path can lead outside the directory, and identical files are stored once.
      await writeFile(join(draft, FILES, hash), bytes, { mode: 0o600, flush: true });
    }
    await writeFile(join(draft, RECORD), record, { mode: 0o600, flush: true });
    if (known !== undefined) await removeTool(parent, id);
    await rename(draft, place);
  } finally {
    removeOwnTree(draft);
  }
  return known === undefined ? "added" : "replaced";
}

/** Lists every tool in the home by name. An unreadable tool is reported as a problem and does not affect the others. */
export async function listStoredTools(directory: string): Promise<ToolListing> {
  const names = ((await readdir(directory).catch(ifMissing)) ?? []).filter((name) => TOOL_ID.test(name)).sort();
  const tools: StoredTool[] = [];
  const problems: { id: string; message: string }[] = [];
  for (const id of names) {
    try {
      const place = join(directory, id);
      const tool = decodeToolRecord(await readBounded(join(place, RECORD), MAX_RECORD_BYTES), `${id}/${RECORD}`);
      if (addedToolId(tool) !== id) throw new KernelError("INVALID_DECLARATION", "it lies under another tool's name");
      tools.push({ ...tool, directory: place });
    } catch (fault) {
      problems.push({ id, message: fault instanceof Error ? fault.message : String(fault) });
    }
  }
  return { tools, problems };
}

/** Removes one version of a tool, or all versions, from the home. Returns the ids of the removed tools. */
export async function removeStoredTools(directory: string, name: string, version: string): Promise<string[]> {
  const names = ((await readdir(directory).catch(ifMissing)) ?? []).filter((id) => TOOL_ID.test(id));
  const wanted = names
    .filter((id) => (version === "" ? id.startsWith(`${name}@`) : id === `${name}@${version}`))
    .sort();
  for (const id of wanted) await removeTool(directory, id);
  return wanted;
}

/**
 * Reads a file of the program once, from an open handle, and verifies its hash.
 *
 * SECURITY: exactly these bytes are passed to the sandbox. Later changes of the file have no effect, and earlier
 * changes are detected. Throws TOOL_QUARANTINED.
 */
export async function readPinnedFile({ directory }: StoredTool, { hash, size, path }: PinnedFile): Promise<Uint8Array> {
  const bytes = await readBounded(join(directory, FILES, hash), size).catch(() => undefined);
  if (bytes !== undefined && bytes.length === size && toHex(blake3(bytes)) === hash) return bytes;
  throw new KernelError(
    "TOOL_QUARANTINED",
    `\`${path}\` is not what was added: add the tool again with --replace, then restart the kernel`,
  );
}

async function removeTool(directory: string, id: string): Promise<void> {
  const away = join(directory, `.draft-${randomUUID()}`);
  await rename(join(directory, id), away);
  removeOwnTree(away);
}

async function readBounded(path: string, maxBytes: number): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > maxBytes) throw new KernelError("INVALID_DECLARATION", "is no such file");
    const buffer = Buffer.alloc(facts.size + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await file?.close();
  }
}

function ifMissing(fault: unknown): undefined {
  if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return undefined;
  throw fault;
}
