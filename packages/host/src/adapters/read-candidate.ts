import { isJsonObject, isKernelError, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import type { CandidateTool } from "./added-tool.ts";
import { describeManifestModule } from "./describe-wasm.ts";
import { importOpenApi, isOpenApi, readImport } from "./openapi/import-openapi.ts";
import { parseManifest } from "./parse-manifest.ts";
import { type PinnedFile, pinFile, type ProgramPin } from "./program-pin.ts";
import { MAX_MANIFEST_BYTES, readManifestText } from "./read-manifest-text.ts";
import { DECLARATION_KEYS } from "./read-declaration.ts";
import { ToolDirectory } from "./tool-directory.ts";
import { PROGRAM_LIMITS } from "./tool-manifest.ts";

const MAX_API_BYTES = 8 * 1024 * 1024;

/** The tools found at a path that a user wants to add. */
export interface FoundTools {
  readonly tools: readonly CandidateTool[];
  /** Real paths of all files that were read. */
  readonly paths: readonly string[];
}

/** Reads a manifest and every file of its program, if it has one. Throws INVALID_DECLARATION with every problem. */
export async function readCandidate(file: string): Promise<FoundTools> {
  const { directory, name } = await ToolDirectory.openParentOf(file);
  try {
    const { bytes: text } = await directory.read(name, MAX_MANIFEST_BYTES);
    const json = readManifestText(text, name);
    const imported = await readApi(json, name, directory);
    if (imported !== undefined) return imported;
    const module = findModuleReference(json, name);
    if (module !== undefined) return await describeManifestModule(directory, module);
    const manifest = parseManifest(json, name);
    const { declaration } = manifest;
    const source = pickDeclaration(json);
    if ("endpoint" in manifest) {
      const tool: CandidateTool = { declaration, source, pin: manifest.endpoint, bytes: new Map() };
      return { tools: [tool], paths: [`${directory.path}/${name}`] };
    }
    const { command, files, secrets } = manifest;
    const bytes = new Map<string, Uint8Array>();
    const pinned: PinnedFile[] = [];
    const problems: KernelError[] = [];
    let room: number = PROGRAM_LIMITS.bytes;
    for (const path of files) {
      const found = await directory.read(path, room).catch((fault: unknown) => {
        if (!isKernelError(fault)) throw fault;
        problems.push(fault);
        return undefined;
      });
      if (found === undefined) continue;
      room -= found.bytes.length;
      bytes.set(path, found.bytes);
      pinned.push(pinFile(path, found.bytes, found.isExecutable));
    }
    throwProblems(problems, name);
    refuseUnrunnable(command[0], pinned, name);
    const tool: CandidateTool = {
      declaration,
      source,
      pin: { kind: "subprocess", command, files: pinned, secrets },
      bytes,
    };
    return { tools: [tool], paths: [name, ...files].map((path) => `${directory.path}/${path}`) };
  } finally {
    await directory.close();
  }
}

/** Returns the tools of an API if this is its OpenAPI description or a manifest that names one. */
async function readApi(json: JsonValue, name: string, directory: ToolDirectory): Promise<FoundTools | undefined> {
  if (isOpenApi(json)) return { tools: importOpenApi(json, name), paths: [`${directory.path}/${name}`] };
  const found = readImport(json, name);
  if (found === undefined) return undefined;
  const { file, settings } = found;
  const document = readManifestText((await directory.read(file, MAX_API_BYTES)).bytes, file);
  if (!isOpenApi(document)) {
    throw new KernelError(
      "INVALID_DECLARATION",
      `\`${file.slice(0, 300)}\` is no OpenAPI document of version 3.0 or 3.1`,
    );
  }
  const paths = [name, file].map((path) => `${directory.path}/${path}`);
  return { tools: importOpenApi(document, file, settings), paths };
}

/** Returns the WebAssembly module that a manifest names in `module`. */
function findModuleReference(
  json: JsonValue,
  name: string,
): { readonly json: JsonObject; readonly name: string; readonly module: string } | undefined {
  if (!isJsonObject(json) || !Object.hasOwn(json, "module")) return undefined;
  const { module: path, ...declared } = json;
  if (typeof path === "string" && MODULE_PATH.test(path)) return { json: declared, name, module: path.slice(2) };
  const message = "must be a file beside the manifest, such as `./tool.wasm`";
  throw new KernelError("INVALID_DECLARATION", `the manifest \`${name}\`: module: ${message}`, {
    violations: [{ field: "module", rule: "format", message }],
  });
}

const MODULE_PATH = /^\.\/[^/\\\0]{1,250}\.wasm$/;

/** Selects the keys of a manifest that describe the tool. */
function pickDeclaration(json: JsonValue): JsonObject {
  return Object.fromEntries(
    Object.entries(isJsonObject(json) ? json : {}).filter(([key]) =>
      (DECLARATION_KEYS as readonly string[]).includes(key),
    ),
  );
}

function throwProblems(problems: readonly KernelError[], name: string): void {
  const [first, ...more] = problems;
  if (first === undefined) return;
  if (more.length === 0) throw first;
  throw new KernelError("INVALID_DECLARATION", `${first.message} (and ${more.length} more)`, {
    violations: problems.map(({ message }) => ({ field: name, rule: "required", message })),
  });
}

/** Rejects a program without the executable bit when it is added, not at its first call. */
function refuseUnrunnable(
  program: ProgramPin["command"][number] | undefined,
  files: readonly PinnedFile[],
  name: string,
): void {
  if (program === undefined || "word" in program) return;
  if (files.find(({ path }) => path === program.file)?.isExecutable === true) return;
  const message = `\`${program.file}\` is not executable: run \`chmod +x\` on it, or name its interpreter in \`command\``;
  throw new KernelError("INVALID_DECLARATION", message, {
    violations: [{ field: `${name}: command[0]`, rule: "format", message }],
  });
}
