import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { type OutputChunk, rolldown } from "rolldown";
import { REPOSITORY } from "../checks/run-tool.ts";
import { directBuiltins } from "./direct-builtins.ts";
import { readyDescriptors } from "./ready-descriptors.ts";

/** Native code and WebAssembly are installed, not bundled. */
export const INSTALLED = ["@cedar-policy/cedar-wasm", "@napi-rs/blake-hash", "@vscode/ripgrep"];

/** Not installed with the package: loaded by the one command that needs it, where somebody has it. */
export const OPTIONAL_PEERS = ["ts-morph"];

/** Started as threads by the files beside them, and found there by name. */
const THREADS = "packages/*/src/**/*-thread.ts";

/** What one call through a running kernel needs, with all that it imports: one file, so that it loads fast. */
const CALL_PATH =
  /packages\/narthex\/src\/(?:cli|commands\/call|connection\/framed-connection)\.ts$|\/framed-client\.ts$/;

/** Only this module does something when it is loaded; whatever else nobody uses is left out. */
const ACTS_WHEN_LOADED = /packages\/contracts\/src\/wire\/protobuf\.ts$/;

/** Bundles library, command and threads into one folder without subfolders. Gives the files that went in. */
export async function bundleCode(directory: string): Promise<readonly string[]> {
  const threads = globSync(THREADS, { cwd: REPOSITORY });
  const bundle = await rolldown({
    cwd: REPOSITORY,
    input: {
      index: "packages/narthex/src/index.ts",
      cli: "packages/narthex/src/cli.ts",
      ...Object.fromEntries(threads.map((path) => [basename(path, ".ts"), path])),
    },
    platform: "node",
    external: (id) => INSTALLED.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [directBuiltins(), readyDescriptors()],
    treeshake: {
      moduleSideEffects: [
        { test: ACTS_WHEN_LOADED, sideEffects: true },
        { test: /\/packages\/[^/]+\/src\//, sideEffects: false },
      ],
    },
    onLog(level, log) {
      // Files on the call's path are together on purpose, however they import each other.
      if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") throw new Error(`${level}: ${log.message}`);
    },
  });
  const { output } = await bundle.write({
    dir: directory,
    format: "esm",
    chunkFileNames: "[name]-[hash].js",
    // Names stay as they are, for whoever reads a stack.
    minify: { compress: true, mangle: false, codegen: true },
    codeSplitting: { groups: [{ name: "core", test: CALL_PATH }] },
  });
  await bundle.close();
  const chunks = output.filter((file): file is OutputChunk => file.type === "chunk");
  for (const { fileName, imports } of chunks)
    checkImports(fileName, imports, new Set(chunks.map((chunk) => chunk.fileName)));
  return [...new Set(chunks.flatMap(({ moduleIds }) => moduleIds))].filter((id) => id.startsWith(join(REPOSITORY)));
}

/** Whatever is imported at run time must be there. */
function checkImports(file: string, imports: readonly string[], bundled: ReadonlySet<string>): void {
  const missing = imports.filter(
    (name) => !bundled.has(name) && !INSTALLED.includes(name) && !name.startsWith("node:"),
  );
  if (missing.length > 0) throw new Error(`${file} imports what is not in the package: ${missing.join(", ")}`);
}
