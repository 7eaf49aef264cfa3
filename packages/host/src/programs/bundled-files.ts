import { realpath } from "node:fs/promises";
import { BUNDLED_PATHS, type BundledProgram, type ProgramFile } from "@narthex/kernel";
import { findRipgrep } from "../search/find-ripgrep.ts";

/** Resolves bundled programs to their paths on this host and inside the sandbox. */
export async function bundledFiles(programs: readonly BundledProgram[]): Promise<ProgramFile[]> {
  return await Promise.all(
    programs.map(async (program) => ({ source: await FIND[program](), target: BUNDLED_PATHS[program] })),
  );
}

const FIND: Readonly<Record<BundledProgram, () => Promise<string>>> = {
  ripgrep: findRipgrep,
  node: () => realpath(process.execPath),
};
