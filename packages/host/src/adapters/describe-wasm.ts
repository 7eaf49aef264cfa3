import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import {
  isJsonObject,
  isKernelError,
  type JsonObject,
  type JsonValue,
  KernelError,
  parseJson,
} from "@narthex/contracts";
import { createJsonReader, WASM_MEMORY_CEILING, WASM_PAGE_BYTES } from "@narthex/kernel";
import { openContainment } from "../sandbox/open-containment.ts";
import { inspectModule, type ModuleInspector } from "../wasm/inspect-module.ts";
import { MAX_MODULE_BYTES } from "../wasm/worker/messages.ts";
import type { CandidateTool } from "./added-tool.ts";
import { pinFile } from "./program-pin.ts";
import { DECLARATION_KEYS, readDeclaration } from "./read-declaration.ts";
import type { FoundTools } from "./read-candidate.ts";
import { MAX_MANIFEST_BYTES, readManifestText } from "./read-manifest-text.ts";
import { ToolDirectory } from "./tool-directory.ts";
import { WASM_KIND } from "./tool-kind.ts";
import type { ProgramDeclaration } from "./tool-manifest.ts";
import type { WasmPin } from "./wasm-pin.ts";
import { removeOwnTree } from "../system/remove-own-tree.ts";

export const WASM_FILE = /\.wasm$/;

/** Extensions of the manifests that may be stored beside `tool.wasm`. */
const MANIFESTS = [".yaml", ".yml", ".json"];

/**
 * Reads a WebAssembly module and its declaration, and checks that the module can be run.
 *
 * SECURITY: the module is untrusted. It is parsed, metered and compiled in an empty sandbox, never in this process.
 */
export async function describeWasm(file: string): Promise<FoundTools> {
  const { directory, name } = await ToolDirectory.openParentOf(file);
  try {
    const { bytes } = await directory.read(name, MAX_MODULE_BYTES);
    return await withInspector(async (inspect) => {
      const { declaration: section } = await inspect(bytes, LENIENT, name);
      const found =
        section === undefined
          ? await findAdjacentManifest(directory, name)
          : { json: parseSection(section, name), file: `${name}: ${SECTION_NAME}`, path: undefined };
      const tool = readModule(found.json, found.file, { name, bytes });
      await inspect(bytes, toLoadOptions(tool.declaration), name);
      const paths = [name, ...(found.path === undefined ? [] : [found.path])];
      return { tools: [tool], paths: paths.map((path) => `${directory.path}/${path}`) };
    });
  } finally {
    await directory.close();
  }
}

/** Does the same for a manifest that names a module. */
export async function describeManifestModule(
  directory: ToolDirectory,
  manifest: { readonly json: JsonObject; readonly name: string; readonly module: string },
): Promise<FoundTools> {
  const { bytes } = await directory.read(manifest.module, MAX_MODULE_BYTES);
  const tool = readModule(manifest.json, manifest.name, { name: manifest.module, bytes });
  await withInspector((inspect) => inspect(bytes, toLoadOptions(tool.declaration), basename(manifest.module)));
  return { tools: [tool], paths: [manifest.name, manifest.module].map((path) => `${directory.path}/${path}`) };
}

const SECTION_NAME = "custom section narthex.tool";

/** Limits for reading the declaration only. The module is then checked again with the limits that it declares. */
const LENIENT = { memoryPages: WASM_MEMORY_CEILING / WASM_PAGE_BYTES, allowsSimd: true };

function toLoadOptions({ bounds, determinism }: ProgramDeclaration): typeof LENIENT {
  const memoryBytes = Math.min(bounds.maxMemoryBytes ?? 0, WASM_MEMORY_CEILING);
  return {
    memoryPages: Math.floor(memoryBytes / WASM_PAGE_BYTES),
    allowsSimd: determinism !== "pure" && determinism !== "deterministic",
  };
}

function readModule(
  json: JsonValue,
  file: string,
  { name, bytes }: { readonly name: string; readonly bytes: Uint8Array },
): CandidateTool<WasmPin> {
  const reader = createJsonReader();
  const object = reader.object(json, "", [...DECLARATION_KEYS, "preset"]);
  const source = object === undefined ? {} : object;
  const declaration = object && readDeclaration(reader, object, "", WASM_KIND);
  const pin: WasmPin = { kind: "wasm", module: pinFile(name, bytes, false) };
  const tool = declaration && { declaration, source, pin, bytes: new Map([[name, bytes]]) };
  return reader.finish(tool, "INVALID_DECLARATION", `the declaration \`${file}\``);
}

function parseSection(section: Uint8Array, name: string): JsonValue {
  try {
    return parseJson(section);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `\`${name}\`: its custom section narthex.tool is not JSON: ${reason}`;
    throw new KernelError("INVALID_DECLARATION", message, { cause });
  }
}

async function findAdjacentManifest(
  directory: ToolDirectory,
  name: string,
): Promise<{ readonly json: JsonValue; readonly file: string; readonly path: string }> {
  const candidates = MANIFESTS.map((ending) => name.replace(WASM_FILE, ending));
  for (const path of candidates) {
    const text = await directory.read(path, MAX_MANIFEST_BYTES).catch(ifAbsent);
    if (text === undefined) continue;
    const json = readManifestText(text.bytes, path);
    if (!isJsonObject(json)) return { json, file: path, path };
    const { module: _module, ...declared } = json;
    return { json: declared, file: path, path };
  }
  throw new KernelError(
    "INVALID_DECLARATION",
    `\`${name}\` says nothing about itself: give it a custom section narthex.tool, or put ${candidates[0]} beside it`,
  );
}

function ifAbsent(fault: unknown): undefined {
  if (isKernelError(fault) && fault.message.endsWith("does not exist")) return undefined;
  throw fault;
}

async function withInspector<T>(work: (inspect: ModuleInspector) => Promise<T>): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), "narthex-describe-"));
  try {
    const containment = await openContainment({ directory: scratch });
    return await inspectModule(containment, work);
  } finally {
    removeOwnTree(scratch);
  }
}
