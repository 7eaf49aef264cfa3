import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { REPOSITORY } from "./run-tool.ts";
import { TEST_CACHE } from "./test-cache.ts";

/**
 * A folder whose test files share processes: loading the sources and running them for the first time takes longer than
 * most tests.
 */
export interface SharedFolder {
  readonly folder: string;
  /** Maximum number of files per process; all by default. */
  readonly atMost?: number;
}

/** A file to run. */
export interface TestProcess {
  readonly file: string;
  /** The test files that it runs: itself, or those that it loads. */
  readonly tests: readonly string[];
}

const LOADERS = join(TEST_CACHE, "together");

/** Processes for the files of each folder, except those of an earlier folder, and one for each remaining file. */
export function loadTogether(folders: readonly SharedFolder[], files: readonly string[]): TestProcess[] {
  const loaded = new Set<string>();
  const loaders = folders.flatMap(({ folder, atMost }) => {
    const within = files.filter((file) => file.startsWith(`${folder}/`) && !loaded.has(file));
    if (within.length === 0) throw new Error(`there is no test in ${folder}`);
    for (const file of within) loaded.add(file);
    return deal(within, Math.ceil(within.length / (atMost ?? within.length))).map((tests, index) =>
      tests.length === 1 ? tests.map(alone) : { file: writeLoader(`${folder}-${index + 1}`, tests), tests },
    );
  });
  return [...loaders.flat(), ...files.filter((file) => !loaded.has(file)).map(alone)];
}

export function alone(file: string): TestProcess {
  return { file, tests: [file] };
}

/** Distributes files in turn, because adjacent files are often similar and take equally long. */
function deal<T>(all: readonly T[], count: number): T[][] {
  return Array.from({ length: count }, (_, hand) => all.filter((_item, index) => index % count === hand));
}

/** Each file is loaded when the previous one is done; its hooks and mocks apply only to its own tests. */
function writeLoader(name: string, files: readonly string[]): string {
  const loader = join(LOADERS, `${name}.mjs`);
  const suites = files.map((file) => {
    const path = resolve(REPOSITORY, file);
    const url = JSON.stringify(pathToFileURL(path).href);
    const name = JSON.stringify(relative(REPOSITORY, path));
    return `await describe(${name}, async () => { after(() => mock.reset()); await import(${url}); });\n`;
  });
  mkdirSync(dirname(loader), { recursive: true });
  writeFileSync(loader, `import { after, describe, mock } from "node:test";\n${suites.join("")}`);
  return loader;
}
