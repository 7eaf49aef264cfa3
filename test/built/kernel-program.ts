import { fileURLToPath } from "node:url";

const USE_BUILT = new URL("./load-built-packages.ts", import.meta.url).href;

/**
 * What Node is told to run a program of the tests that opens a kernel: with packages as `npm test` built them, which
 * load in a third of the time that the sources take. A test file that is run by itself takes the sources.
 */
export function kernelProgram(program: URL, ...words: readonly string[]): string[] {
  return [...beforeKernel(), fileURLToPath(program), ...words];
}

/** The words of it that stand before the program's name. */
export function beforeKernel(): string[] {
  return process.env["NARTHEX_TEST_COMMAND"] === undefined ? [] : ["--import", USE_BUILT];
}
