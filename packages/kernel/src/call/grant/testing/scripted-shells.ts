import type { SandboxProfile } from "../../../sandboxed-programs.ts";
import type { SessionShells, ShellJob } from "../../../session-shells.ts";

export interface ScriptedShells extends SessionShells {
  /** Sandbox profiles of the jobs that were started. */
  readonly places: SandboxProfile[];
  /** Ends a job; resolves once all waiters have been notified. */
  endJob(index: number, cpuMs: number): Promise<void>;
}

/**
 * Creates shells whose jobs do nothing and continue until they are ended. Jobs that end with their session have used
 * `endsWithMs` of CPU time.
 */
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
