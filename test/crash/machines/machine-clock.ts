import { existsSync, globSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The wall clock of the processes that are started with it. */
export interface MachineClock {
  readonly description: string;
  readonly env: NodeJS.ProcessEnv;
  /** So many hours from the real time, from now on and for all of them. */
  set(hours: number): Promise<void>;
}

const LIBRARIES = "/usr/{lib,lib64}/{,*/}faketime/libfaketimeMT.so.1";

/** By libfaketime where it is installed, else by a module that is loaded first. */
export async function createMachineClock(directory: string): Promise<MachineClock> {
  const file = join(directory, "clock");
  const set = (hours: number): Promise<void> => writeFile(file, `${hours < 0 ? "" : "+"}${hours * 3600}\n`);
  await set(0);
  const [library] = globSync(LIBRARIES).filter((path) => existsSync(path));
  if (library === undefined) {
    const module = new URL("./set-clock.ts", import.meta.url).href;
    const env = { NODE_OPTIONS: `--import=${module}`, CLOCK_FILE: file };
    return { description: "libfaketime is not installed: a module sets the clock of the process instead", env, set };
  }
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    FAKETIME_DONT_RESET: "1",
  };
  return { description: "the clock is set by libfaketime", env, set };
}
