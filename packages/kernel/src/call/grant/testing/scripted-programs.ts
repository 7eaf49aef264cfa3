import type { ProgramExit, SandboxedPrograms, SandboxProfile, RunningProgram } from "../../../sandboxed-programs.ts";

/** What a scripted program does instead of running: prints, and ends or waits to be killed. */
export interface Script {
  readonly stdout?: readonly string[];
  readonly stderr?: readonly string[];
  readonly end?: Partial<ProgramExit>;
  /** Continues until it is killed. */
  readonly isEndless?: boolean;
  /** Successive measurements of its CPU time; it ends at the first that is too much. */
  readonly looks?: readonly number[];
}

export interface ScriptedPrograms extends SandboxedPrograms {
  readonly places: SandboxProfile[];
  readonly received: string[];
  kills: number;
}

const END: ProgramExit = { exitCode: 0, exceeded: undefined, peakMemoryBytes: 0, cpuMs: 0, putBack: [] };

/** Creates a driver that runs nothing, to test how the kernel handles what programs do. */
export function scriptPrograms(script: Script): ScriptedPrograms {
  const driver: ScriptedPrograms = {
    places: [],
    received: [],
    kills: 0,
    allowChange: () => undefined,
    pathsAround: () => Promise.resolve([]),
    endSession: () => Promise.resolve(),
    removeLeftovers: () => Promise.resolve(),
    start(place, _program, signal): Promise<RunningProgram> {
      driver.places.push(place);
      const killed = Promise.withResolvers<void>();
      const kill = (): void => {
        driver.kills++;
        killed.resolve();
      };
      signal.addEventListener("abort", kill);
      const isOver = script.isEndless === true ? killed.promise : Promise.resolve();
      async function* stream(chunks: readonly string[] = []): AsyncGenerator<Uint8Array> {
        for (const chunk of chunks) yield Buffer.from(chunk);
        await isOver;
      }
      const exitCode = script.isEndless === true ? undefined : 0;
      return Promise.resolve({
        write: async (chunk) => void driver.received.push(Buffer.from(chunk).toString()),
        endInput: () => driver.received.push("end"),
        stdout: stream(script.stdout),
        stderr: stream(script.stderr),
        ended: isOver.then(() => ({ ...END, exitCode, ...useTime(place, script), ...script.end })),
        kill,
      });
    },
  };
  return driver;
}

function useTime({ cpu }: SandboxProfile, { looks = [] }: Script): Partial<ProgramExit> {
  for (const cpuMs of looks) {
    const exceeded = cpu?.check(cpuMs);
    if (exceeded !== undefined) return { exitCode: undefined, exceeded, cpuMs };
  }
  return { cpuMs: looks.at(-1) ?? 0 };
}
