import { randomBytes } from "node:crypto";
import { KernelError } from "@narthex/contracts";
import type { RunningProgram } from "@narthex/kernel";
import { BackgroundJob } from "./background-job.ts";

const MAX_RUNNING = 16;
/** Those that have ended are remembered for their output. */
const MAX_KNOWN = 32;

/** Starts the program of a job; `onAsked` ends it for a reason. */
export type StartJob = (signal: AbortSignal, onAsked: (reason: string) => void) => Promise<RunningProgram>;

interface SessionJobs {
  readonly known: Map<string, BackgroundJob>;
  readonly starting: Set<AbortController>;
  hasEnded: boolean;
}

/** The jobs of all sessions. They are no connection's: whoever holds the session finds them again. */
export class JobTable {
  readonly #sessions = new Map<string, SessionJobs>();

  async add(
    sessionId: string,
    timeoutMs: number | undefined,
    signal: AbortSignal,
    start: StartJob,
  ): Promise<BackgroundJob> {
    const jobs = this.#jobsOf(sessionId);
    const running = [...jobs.known.values()].filter(({ state }) => state.state === "running");
    if (running.length + jobs.starting.size >= MAX_RUNNING) {
      throw new KernelError("RESOURCE_EXCEEDED", `a session has at most ${MAX_RUNNING} jobs at once: kill one first`);
    }
    // Its own life: the call that starts it ends before it does. Only its start can be given up with the call.
    const life = new AbortController();
    const giveUp = (): void => life.abort(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    jobs.starting.add(life);
    let job: BackgroundJob | undefined;
    let asked: string | undefined;
    try {
      const program = await start(life.signal, (reason) => {
        asked = reason;
        job?.end(reason);
      });
      job = new BackgroundJob({ id: `job_${randomBytes(8).toString("hex")}`, program, timeoutMs });
    } finally {
      jobs.starting.delete(life);
      signal.removeEventListener("abort", giveUp);
    }
    if (asked !== undefined) job.end(asked);
    if (jobs.hasEnded) {
      await job.kill();
      throw new KernelError("CANCELLED", "the session has ended");
    }
    jobs.known.set(job.id, job);
    forgetEnded(jobs.known);
    return job;
  }

  find(sessionId: string, jobId: string): BackgroundJob {
    const job = this.#sessions.get(sessionId)?.known.get(jobId);
    if (job === undefined) {
      const message = `this session has no job \`${jobId.slice(0, 80)}\`; jobs end with their session and with the kernel`;
      throw new KernelError("INVALID_INPUT", message);
    }
    return job;
  }

  async end(sessionId: string): Promise<void> {
    const jobs = this.#sessions.get(sessionId);
    if (jobs === undefined) return;
    this.#sessions.delete(sessionId);
    jobs.hasEnded = true;
    for (const life of jobs.starting) life.abort(new KernelError("CANCELLED", "the session has ended"));
    await Promise.all([...jobs.known.values()].map((job) => job.kill()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((sessionId) => this.end(sessionId)));
  }

  #jobsOf(sessionId: string): SessionJobs {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    const fresh: SessionJobs = { known: new Map(), starting: new Set(), hasEnded: false };
    this.#sessions.set(sessionId, fresh);
    return fresh;
  }
}

/** The oldest first. */
function forgetEnded(known: Map<string, BackgroundJob>): void {
  for (const [id, { state }] of known) {
    if (known.size <= MAX_KNOWN) return;
    if (state.state !== "running") known.delete(id);
  }
}
