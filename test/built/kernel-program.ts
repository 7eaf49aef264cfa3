import { fileURLToPath } from "node:url";

const USE_BUILT = new URL("./use-built.ts", import.meta.url).href;

/**
 * What Node is told to run a program of the tests that opens a kernel: with `narthex` as `npm test` built it, which
 * loads in a third of the time that the sources take. A test file that is run by itself takes the sources.
 */
export function kernelProgram(program: URL, ...words: readonly string[]): string[] {
  const before = process.env["NARTHEX_TEST_COMMAND"] === undefined ? [] : ["--import", USE_BUILT];
  return [...before, fileURLToPath(program), ...words];
}
