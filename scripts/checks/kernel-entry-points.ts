import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "rolldown/utils";

/** Modules through which tests reach a kernel as a client does, and their exports that open the door. */
const DOORS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  // The command line, the sockets and ports of `narthex serve`, and `narthex mcp`.
  ["test/cli/home.ts", new Set(["createTestHome", "createHostedHome"])],
  // The services' socket of a kernel in the test's process, and of one in any process.
  ["test/doors/socket-kernel.ts", new Set(["createKernel"])],
  ["test/doors/socket-session.ts", new Set(["createSocketCaller"])],
]);

/** Exports that call tools without a door, wherever they are imported from. */
const IN_PROCESS: ReadonlySet<string> = new Set([
  "createKernel",
  "openKernel",
  "createTestKernel",
  "createAgentSession",
  "runAgent",
]);
/** Ways to do the same without a static import. */
const IN_PROCESS_TEXT = /\bcallInProcess\b|\bimport\("narthex"\)/;

/** `new URL("./program.ts", import.meta.url)`: a program that a test starts. */
const STARTED = /new URL\(\s*"(\.{1,2}\/[^"]+\.ts)",\s*import\.meta\.url/g;

/** One value that a file imports, or a program that it starts. */
interface Reference {
  readonly specifier: string;
  /** For a relative specifier, relative to the repository's root. */
  readonly target: string;
  /** `*` for a namespace import, and for a program. */
  readonly name: string;
}

/**
 * Explains why a test file does not send its input through a front door; undefined if it does. Judged by its imports
 * and the programs that it starts: it must open one of the doors, and must have no way to call a kernel in process.
 */
export function findDoorProblem(root: string, file: string): string | undefined {
  const reached = new Set([file]);
  let opensDoor = false;
  for (const path of reached) {
    const text = readFileSync(join(root, path), "utf8");
    const [direct] = IN_PROCESS_TEXT.exec(text) ?? [];
    if (direct !== undefined) return `${path} has ${direct}, which calls tools in process`;
    for (const { specifier, target, name } of listReferences(path, text)) {
      const door = DOORS.get(target);
      opensDoor ||= door?.has(name) === true;
      if (door !== undefined) continue;
      if (IN_PROCESS.has(name) || (name === "*" && specifier === "narthex"))
        return `${path} imports ${name} from ${specifier}, which calls tools in process`;
      if (target.startsWith("test/") && existsSync(join(root, target))) reached.add(target);
    }
  }
  return opensDoor ? undefined : `${file} opens no front door`;
}

function listReferences(file: string, text: string): Reference[] {
  const refer = (specifier: string, name: string): Reference => {
    const target = specifier.startsWith(".") ? join(dirname(file), specifier) : "";
    return { specifier, target, name };
  };
  const found = [...text.matchAll(STARTED)].map(([, specifier = ""]) => refer(specifier, "*"));
  for (const { moduleRequest, entries } of parseSync(file, text).module.staticImports) {
    if (entries.length === 0) found.push(refer(moduleRequest.value, ""));
    for (const { importName, isType } of entries)
      if (!isType) found.push(refer(moduleRequest.value, importName.name ?? "*"));
  }
  return found;
}
