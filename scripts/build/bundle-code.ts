import { globSync } from "node:fs";
import { basename } from "node:path";
import { type CodeSplittingGroup, type OutputChunk, type OutputOptions, rolldown } from "rolldown";
import { REPOSITORY } from "../checks/run-tool.ts";
import { directBuiltins } from "./direct-builtins.ts";
import { readyDescriptors } from "./descriptor-literals.ts";

/** Native code and WebAssembly are installed, not bundled. */
export const INSTALLED = ["@cedar-policy/cedar-wasm", "@napi-rs/blake-hash", "@vscode/ripgrep"];

/** Not installed with the package: loaded by the one command that needs it, if the user has installed it. */
export const OPTIONAL_PEERS = ["ts-morph"];

/** Threads are started by the files beside them, which find them by name. */
const THREADS = "packages/*/src/**/*-thread.ts";

/**
 * The files that one call through a running kernel needs, with all their imports: bundled into one file, so that it
 * loads fast.
 */
const CALL_PATH =
  /packages\/narthex\/src\/(?:cli|commands\/call|connection\/framed-connection)\.ts$|\/framed-client\.ts$/;

const LIBRARY = /packages\/narthex\/src\/index\.ts$/;

/**
 * Files that are loaded together: to parse arguments, for a client's hook, to call services of a running kernel, to
 * read its records, to serve an MCP client, to read a ledger, to open a home. A hundred small files load slower than
 * one. A later path's bundle leaves out the files of an earlier one, so that calling a kernel loads nothing that only a
 * kernel needs.
 */
const LONG_PATHS: ReadonlyMap<string, readonly RegExp[]> = new Map([
  ["parser", [/\/commands\/run-parser\.ts$/]],
  ["hook", [/\/commands\/hook\.ts$/]],
  [
    "services",
    [
      /\/connection\/services-connection\.ts$/,
      /\/commands\/(?:approvals-(?:list|show|approve|deny)|session-(?:list|show|open|close))\.ts$/,
      /\/commands\/(?:tools-(?:list|show)|policy-(?:show|reload)|lease-(?:show|delegate)|journal-list|cas-stat)\.ts$/,
    ],
  ],
  ["records", [/\/commands\/(?:ledger-(?:list|show|tail|prove)|watch|policy-recheck)\.ts$/]],
  ["mcp", [/\/commands\/mcp\.ts$/, /\/host\/src\/(?:own-code\/own-code|home\/workspace-rules)\.ts$/]],
  ["mcp-server", [/\/mcp\/serve-mcp-stdio\.ts$/]],
  ["ledger", [/\/commands\/ledger-verify\.ts$/]],
  ["home", [/\/connection\/local-connection\.ts$/]],
]);

/**
 * Separate, because the bundler would put it with the MCP server, which a client loads while it waits for the kernel.
 */
const MCP_CALLER = /\/server\/src\/mcp\/mcp-caller\.ts$/;

/** For these paths, the files that a later path needs too are bundled separately, under this name. */
const SHARED: ReadonlyMap<string, string> = new Map([
  ["parser", "version"],
  ["services", "messages"],
  ["mcp", "settings"],
  ["mcp-server", "views"],
]);

/** Only this module has side effects when it is loaded; unused exports of all others are removed. */
const ACTS_WHEN_LOADED = /packages\/contracts\/src\/wire\/protobuf\.ts$/;

/** Bundles library, command and threads into one folder without subfolders. Returns the list of the bundled files. */
export async function bundleCode(directory: string): Promise<readonly string[]> {
  const threads = globSync(THREADS, { cwd: REPOSITORY }).map((path) => [basename(path, ".ts"), path] as const);
  const command = {
    index: "packages/narthex/src/index.ts",
    testing: "packages/narthex/src/testing/index.ts",
    cli: "packages/narthex/src/cli.ts",
  };
  const written = [
    ...(await writeBundle(directory, command, await groupPaths(command))),
    // Separate, because a client waits for it.
    ...(await writeBundle(directory, { "quick-hook": "packages/narthex/src/quick-hook.ts" }, [])),
    // Separate, because a thread that shared files with the command would load everything in them.
    ...(await writeBundle(directory, Object.fromEntries(threads), [])),
  ];
  return [...new Set(written.flatMap(({ moduleIds }) => moduleIds))].filter((id) => id.startsWith(REPOSITORY));
}

/** Bundles packages separately, for a program that imports them beside the command: they load in half the time. */
export async function bundlePackages(directory: string, names: readonly string[]): Promise<void> {
  const entries = names.map((name) => [name, `packages/${name}/src/index.ts`] as const);
  await writeBundle(directory, Object.fromEntries(entries), []);
}

async function writeBundle(
  directory: string,
  input: Record<string, string>,
  groups: CodeSplittingGroup[],
): Promise<readonly OutputChunk[]> {
  const chunks = await bundle(input, groups, directory);
  for (const { fileName, imports } of chunks)
    checkImports(fileName, imports, new Set(chunks.map((chunk) => chunk.fileName)));
  return chunks;
}

/** Bundles once to find out which files each path needs: that leaves out imports that are never used. */
async function groupPaths(input: Record<string, string>): Promise<CodeSplittingGroup[]> {
  const own = { includeDependenciesRecursively: false };
  const core: CodeSplittingGroup = { name: "core", test: CALL_PATH, priority: LONG_PATHS.size };
  const caller: CodeSplittingGroup = { ...own, name: "caller", test: MCP_CALLER, priority: 0 };
  const apart = await bundle(input, [core, caller]);
  const whole = await bundle(input, []);
  const library = modulesBehind([LIBRARY], whole);
  const called = modulesBehind([CALL_PATH], whole);
  // The files that importing the library loads: nothing that only the command or a kernel needs.
  const imported: CodeSplittingGroup[] = [
    { ...own, name: "base", test: (id) => library.has(id) && called.has(id), priority: LONG_PATHS.size + 2 },
    { ...own, name: "library", test: (id) => library.has(id), priority: LONG_PATHS.size + 1 },
  ];
  const needed = [...LONG_PATHS].map(([name, paths]) => [name, modulesBehind(paths, apart)] as const);
  const groups = needed.flatMap(([name, modules], index): CodeSplittingGroup[] => {
    const priority = LONG_PATHS.size - 1 - index;
    const group = { name, test: (id: string) => modules.has(id), priority, includeDependenciesRecursively: false };
    const sharedName = SHARED.get(name);
    if (sharedName === undefined) return [group];
    // Opening a home loads no client of a kernel, so the files that both need are separate from the client's.
    const isNeededLater = (id: string): boolean => needed.slice(index + 1).some(([, later]) => later.has(id));
    return [{ ...group, name: sharedName, test: (id: string) => modules.has(id) && isNeededLater(id) }, group];
  });
  return [...imported, core, ...groups];
}

/** Writes the bundle if a directory is given; otherwise only returns it. */
async function bundle(
  input: Record<string, string>,
  groups: CodeSplittingGroup[],
  dir?: string,
): Promise<readonly OutputChunk[]> {
  await using bundled = await rolldown({
    cwd: REPOSITORY,
    input,
    platform: "node",
    // Entries are not imported by other code, so they export only what they declare.
    preserveEntrySignatures: "allow-extension",
    external: INSTALLED.map((name) => new RegExp(`^${RegExp.escape(name)}(?:/|$)`)),
    plugins: [directBuiltins(), readyDescriptors()],
    treeshake: {
      moduleSideEffects: [
        { test: ACTS_WHEN_LOADED, sideEffects: true },
        { test: /\/packages\/[^/]+\/src\//, sideEffects: false },
      ],
    },
    onLog(level, log) {
      // Files on one path are bundled together on purpose, however they import each other.
      if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") throw new Error(`${level}: ${log.message}`);
    },
  });
  const options: OutputOptions = {
    format: "esm",
    chunkFileNames: "[name]-[hash].js",
    // Names and lines are kept, because Node prints the whole line that threw an uncaught error.
    minify: dir !== undefined && { compress: true, mangle: false, codegen: false },
    comments: false,
    codeSplitting: { groups },
  };
  const { output } = dir === undefined ? await bundled.generate(options) : await bundled.write({ ...options, dir });
  return output.filter((file): file is OutputChunk => file.type === "chunk");
}

/** The modules of these files and of everything loaded with them. */
function modulesBehind(paths: readonly RegExp[], chunks: readonly OutputChunk[]): ReadonlySet<string> {
  const first = chunks.filter(({ moduleIds }) => moduleIds.some((id) => paths.some((path) => path.test(id))));
  const reached = new Set(first);
  for (const { imports } of reached)
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) reached.add(chunk);
  return new Set([...reached].flatMap(({ moduleIds }) => moduleIds));
}

/** Checks that every import is available at run time. */
function checkImports(file: string, imports: readonly string[], bundled: ReadonlySet<string>): void {
  const missing = imports.filter(
    (name) => !bundled.has(name) && !INSTALLED.includes(name) && !name.startsWith("node:"),
  );
  if (missing.length > 0) throw new Error(`${file} imports what is not in the package: ${missing.join(", ")}`);
}
