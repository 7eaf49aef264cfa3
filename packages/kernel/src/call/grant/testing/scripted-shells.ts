import type { SandboxProfile } from "../../../sandboxed-programs.ts";
import type { SessionShells, ShellJob } from "../../../session-shells.ts";

export interface ScriptedShells extends SessionShells {
  /** Of the jobs that were started. */
  readonly places: SandboxProfile[];
  /** Resolves once everyone who waited for it has heard. */
  endJob(index: number, cpuMs: number): Promise<void>;
}

/** Shells whose jobs do nothing and go on until they are told to end. With their session they have used `endsWithMs`. */
export function scriptShells(endsWithMs = 0): ScriptedShells {
  const endings: ((end: { readonly cpuMs: number }) => void)[] = [];
  const places: SandboxProfile[] = [];
  const unused = (): never => {
    throw new Error("only jobs are scripted");
  };
  return {
    places,
    backend: () => Promise.resolve("sandbox"),
    run: unused,
    job: unused,
    spawn(place) {
      const { promise: ended, resolve } = Promise.withResolvers<{ readonly cpuMs: number }>();
      endings.push(resolve);
      const state = { state: "running", exitCode: undefined, notes: [] } as const;
      const job: ShellJob = {
        id: `job_${places.push(place)}`,
        state,
        ended,
        read: unused,
        write: unused,
        endInput: unused,
        kill: unused,
      };
      return Promise.resolve(job);
    },
    async endSession() {
      for (const end of endings) end({ cpuMs: endsWithMs });
      await Promise.resolve();
    },
    async endJob(index, cpuMs) {
      endings[index]?.({ cpuMs });
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
