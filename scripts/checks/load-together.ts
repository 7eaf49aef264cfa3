import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { REPOSITORY } from "./run-tool.ts";
import { TEST_CACHE } from "./test-cache.ts";

export interface SharedProcesses {
  /** Files that load those of one folder each. */
  readonly loaders: readonly string[];
  /** Files that have a process of their own. */
  readonly apart: readonly string[];
}

/** What is done at the top of a file is done to every test of its process; a mock is one of the process anyway. */
const TOUCHES_OTHERS = /^(?:before|after|beforeEach|afterEach)\(|^import \{[^}]*\bmock\b[^}]*\} from "node:test"/m;
const LOADERS = join(TEST_CACHE, "together");

/** Lets the test files of each folder that no folder before it holds share a process, those that touch others left out. */
export function loadTogether(folders: readonly string[], files: readonly string[]): SharedProcesses {
  const shareable = files.filter((file) => !TOUCHES_OTHERS.test(readFileSync(resolve(REPOSITORY, file), "utf8")));
  const loaded = new Set<string>();
  const loaders = folders.map((folder) => {
    const within = shareable.filter((file) => file.startsWith(`${folder}/`) && !loaded.has(file));
    if (within.length === 0) throw new Error(`there is no test in ${folder}`);
    for (const file of within) loaded.add(file);
    return writeLoader(folder, within);
  });
  return { loaders, apart: files.filter((file) => !loaded.has(file)) };
}

/** The folder that a file loads the tests of, if it does. */
export function folderOf(file: string): string | undefined {
  return file.startsWith(`${LOADERS}/`) ? relative(LOADERS, file).slice(0, -".mjs".length) : undefined;
}

function writeLoader(folder: string, files: readonly string[]): string {
  const loader = join(LOADERS, `${folder}.mjs`);
  const urls = files.map((file) => pathToFileURL(resolve(REPOSITORY, file)).href);
  mkdirSync(dirname(loader), { recursive: true });
  writeFileSync(loader, urls.map((url) => `await import(${JSON.stringify(url)});\n`).join(""));
  return loader;
}
