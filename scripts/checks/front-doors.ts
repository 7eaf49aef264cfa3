import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "rolldown/utils";
import { readImports } from "./imports/read-imports.ts";

/** Modules through which tests reach a kernel as a client does, each with its door. */
const DOORS: ReadonlyMap<string, string> = new Map([
  ["test/cli/home.ts", "the command line, and the sockets of `narthex serve`"],
  ["test/doors/socket-kernel.ts", "the services' socket of a kernel in this process"],
  ["test/doors/socket-session.ts", "the services' socket of a kernel in any process"],
  ["test/doors/mcp/served-mcp.ts", "MCP"],
]);

/** Exports that call tools without a door, wherever they are imported from. */
const IN_PROCESS: ReadonlySet<string> = new Set([
  "createKernel",
  "openKernel",
  "createTestKernel",
  "createAgentSession",
  "runAgent",
]);

/** `new URL("./program.ts", import.meta.url)`: a program that a test starts. */
const STARTED = /new URL\(\s*"(\.{1,2}\/[^"]+\.ts)",\s*import\.meta\.url/g;

/**
 * Tells why a test file does not send its input through a front door, or gives undefined if it does: it must reach one of
 * the doors by its imports and the programs it starts, and none of these may be able to call a kernel in process.
 */
export function findDoorProblem(root: string, file: string): string | undefined {
  const files = listReached(root, file);
  if (!files.some((reached) => DOORS.has(reached))) return `${file} reaches no front door`;
  for (const reached of files) {
    if (DOORS.has(reached)) continue;
    const name = findInProcess(root, reached);
    if (name !== undefined) return `${reached} imports ${name}, which calls tools in process`;
  }
  return undefined;
}

/** The file and everything below `test` that it imports or starts; doors are not looked into. */
function listReached(root: string, file: string): string[] {
  const reached = new Set([file]);
  for (const path of reached) {
    if (DOORS.has(path)) continue;
    const text = readFileSync(join(root, path), "utf8");
    const imported = readImports(path, text).filter(({ isTypeOnly }) => !isTypeOnly);
    const started = [...text.matchAll(STARTED)].map(([, specifier = ""]) => specifier);
    for (const specifier of [...imported.map((one) => one.specifier), ...started]) {
      const target = join(dirname(path), specifier);
      if (specifier.startsWith(".") && target.startsWith("test/") && existsSync(join(root, target)))
        reached.add(target);
    }
  }
  return [...reached];
}

/** The name of an import that calls tools in process. */
function findInProcess(root: string, file: string): string | undefined {
  const text = readFileSync(join(root, file), "utf8");
  for (const { moduleRequest, entries } of parseSync(file, text).module.staticImports) {
    if (DOORS.has(join(dirname(file), moduleRequest.value))) continue;
    for (const { importName, isType } of entries) {
      if (isType) continue;
      if (importName.kind === "NamespaceObject" && moduleRequest.value === "narthex") return "all of narthex";
      if (importName.name !== null && IN_PROCESS.has(importName.name ?? "")) return importName.name;
    }
  }
  return /\bcallInProcess\b/.test(text) ? "callInProcess" : undefined;
}
