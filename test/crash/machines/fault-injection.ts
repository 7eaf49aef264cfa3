import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** System calls that can be made to fail, as libfiu names them. */
export type FaultPoint = "posix/io/sync/fsync" | "posix/io/sync/fdatasync" | `posix/io/rw/pwrite${"" | "/reduce"}`;

/** Makes system calls of a running process fail. */
export interface FaultInjection {
  /** How it is done, and if it is not done by failing the very calls, why not. */
  readonly description: string;
  /** Put before the command of a process that is to be failed. */
  readonly under: readonly string[];
  /** From now on; with a chance below 1, only now and then. */
  fail(
    pid: number,
    points: readonly FaultPoint[],
    fault: { readonly errno: number; readonly chance?: number },
  ): Promise<void>;
  heal(pid: number, points: readonly FaultPoint[]): Promise<void>;
}

const FIU_RUN = "fiu-run";
const FIU_CONTROL = "fiu-ctrl";
/** In units of 512 bytes: enough for a kernel to start, and soon used up by its log. */
const FILE_BLOCKS = 2000;

/** With libfiu where it is installed, else by a limit on the size of files: some write then fails, and all after it. */
export function createFaultInjection(directory: string): FaultInjection {
  const control = join(directory, "fiu");
  const told = (pid: number, command: string) => run(FIU_CONTROL, ["-f", control, "-c", command, String(pid)]);
  if (spawnSync(FIU_RUN, ["-x", "-f", control, "true"]).status !== 0) {
    return {
      description: "fiu-run (Debian: fiu-utils) is not installed: a limit on the size of files fails writes instead",
      under: ["sh", "-c", `ulimit -f ${FILE_BLOCKS} && exec "$@"`, "sh"],
      fail: () => Promise.resolve(),
      heal: () => Promise.resolve(),
    };
  }
  return {
    description: "system calls fail by libfiu",
    under: [FIU_RUN, "-x", "-f", control],
    async fail(pid, points, { errno, chance = 1 }) {
      for (const name of points) {
        const what = chance < 1 ? `enable_random name=${name},probability=${chance}` : `enable name=${name}`;
        await told(pid, `${what},failinfo=${errno}`);
      }
    },
    async heal(pid, points) {
      for (const name of points) await told(pid, `disable name=${name}`);
    },
  };
}
