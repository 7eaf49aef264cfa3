import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import { createJsonReader } from "@narthex/kernel";
import { openContainment } from "../sandbox/open-containment.ts";
import { readAll } from "../sandbox/read-all.ts";
import { DEFAULT_LIMITS } from "../sandbox/sandbox-plan.ts";
import type { CandidateTool } from "./added-tool.ts";
import { describeCommand, moduleContents, moduleFiles } from "./module-program.ts";
import { pinFile, type ProgramPin } from "./program-pin.ts";
import { PROGRAM_PATH } from "./program-tool.ts";
import { DECLARATION_KEYS, readDeclaration } from "./read-declaration.ts";
import type { FoundTools } from "./read-candidate.ts";
import { ToolDirectory } from "./tool-directory.ts";
import { PROGRAM_KIND } from "./tool-kind.ts";
import { removeOwnTree } from "../system/remove-own-tree.ts";

const MAX_MODULE_BYTES = 8 * 1024 * 1024;
const MAX_DESCRIPTION_BYTES = 1024 * 1024;
const MAX_TOOLS = 100;
const MAX_MS = 30_000;
const MB = 1024 * 1024;

export const MODULE_FILE = /\.(?:ts|mts|js|mjs)$/;

/**
 * Reads a JavaScript module and returns the tools that it exports.
 *
 * SECURITY: the module is untrusted code. It runs once, in an empty sandbox, and never in this process.
 */
export async function describeModule(file: string): Promise<FoundTools> {
  const { directory, name } = await ToolDirectory.openParentOf(file);
  try {
    const { bytes } = await directory.read(name, MAX_MODULE_BYTES);
    const pin: ProgramPin = {
      kind: "module",
      command: [{ file: name }],
      files: [pinFile(name, bytes, false)],
      secrets: new Map(),
    };
    const described = parseDescription(await runDescribeProgram(directory.path, name, bytes, pin), name);
    return { tools: readTools(described, name, pin, bytes), paths: [`${directory.path}/${name}`] };
  } finally {
    await directory.close();
  }
}

function readTools(described: readonly JsonValue[], name: string, pin: ProgramPin, bytes: Uint8Array): CandidateTool[] {
  const reader = createJsonReader();
  const seen = new Set<string>();
  const tools = reader.list([...described], "tools", MAX_TOOLS, (item, field): CandidateTool | undefined => {
    const source: JsonObject | undefined = reader.object(item, field, DECLARATION_KEYS);
    if (source === undefined) return undefined;
    const declaration = readDeclaration(reader, source, field, PROGRAM_KIND);
    // A call names a tool, not a version, so each name must be unique.
    if (seen.has(declaration.name)) reader.refuse(`${field}.name`, "duplicate", "is exported twice");
    seen.add(declaration.name);
    return { declaration, source, pin, bytes: new Map([[name, bytes]]) };
  });
  return reader.finish(tools, "INVALID_DECLARATION", `the module \`${name}\``);
}

function parseDescription(output: Uint8Array, name: string): readonly JsonValue[] {
  const described = parseOutput(output);
  if (Array.isArray(described) && described.length > 0 && described.every((one) => isJsonObject(one))) return described;
  throw new KernelError(
    "INVALID_DECLARATION",
    `\`${name}\` exports no tools: export an object with name, description, inputSchema and run, or a list of them`,
  );
}

/** Returns null for invalid JSON: the module itself wrote to the output. */
function parseOutput(output: Uint8Array): JsonValue {
  try {
    return parseJson(output);
  } catch {
    return null;
  }
}

async function runDescribeProgram(
  place: string,
  name: string,
  bytes: Uint8Array,
  pin: ProgramPin,
): Promise<Uint8Array> {
  const scratch = await mkdtemp(join(tmpdir(), "narthex-describe-"));
  try {
    const containment = await openContainment({ directory: scratch });
    const { identity } = await containment.identityFor(place);
    const program = await containment.start(
      {
        mounts: (await moduleFiles()).map((file) => ({ ...file, access: "read" }) as const),
        symlinks: [],
        contents: [{ target: `${PROGRAM_PATH}/${name}`, bytes, isExecutable: false }, ...moduleContents(PROGRAM_PATH)],
        environment: {},
        workingDirectory: "/",
        limits: { ...DEFAULT_LIMITS, cpuMs: 30_000, memoryBytes: 1024 * MB, processes: 64, fileBytes: MB },
        temporaryBytes: MB,
        socketFamilies: [],
        mayFork: false,
        identity,
      },
      describeCommand(pin, PROGRAM_PATH),
    );
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      program.kill();
    }, MAX_MS);
    try {
      program.stdin.end();
      const [output, errors, ended] = await Promise.all([
        readAll(program.stdout, MAX_DESCRIPTION_BYTES),
        readAll(program.stderr, MAX_DESCRIPTION_BYTES),
        program.ended.catch((fault: unknown) => {
          // A program that was killed at the time limit could not report how it ended.
          if (!isLate) throw fault;
          return { exitCode: undefined };
        }),
      ]);
      if (ended.exitCode === 0) return output;
      const said = errors
        .toString()
        .replaceAll(/[\s\p{C}]+/gu, " ")
        .trim()
        .slice(0, 400);
      const why = isLate ? `it did not end within ${MAX_MS} ms` : said;
      throw new KernelError("INVALID_DECLARATION", `\`${name}\` does not say which tools it exports: ${why}`);
    } finally {
      clearTimeout(timer);
      program.kill();
    }
  } finally {
    removeOwnTree(scratch);
  }
}
