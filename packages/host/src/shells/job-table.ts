import { randomBytes } from "node:crypto";
import { KernelError } from "@narthex/contracts";
import type { RunningProgram } from "@narthex/kernel";
import { BackgroundJob } from "./background-job.ts";

const MAX_RUNNING = 16;
/** Ended jobs are kept for their output. */
const MAX_KNOWN = 32;

/** Starts the program of a job; it may call `onAsked` to end the job with a reason. */
export type StartJob = (signal: AbortSignal, onAsked: (reason: string) => void) => Promise<RunningProgram>;

interface SessionJobs {
  readonly known: Map<string, BackgroundJob>;
  readonly starting: Set<AbortController>;
  hasEnded: boolean;
}

/** The jobs of all sessions. Jobs belong to a session, not to a connection, and so survive a reconnect. */
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
    // The job outlives the call that starts it, so it has its own signal. The call's signal can cancel only the start.
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

/** Forgets ended jobs, oldest first, while there are too many. */
function forgetEnded(known: Map<string, BackgroundJob>): void {
  for (const [id, { state }] of known) {
    if (known.size <= MAX_KNOWN) return;
    if (state.state !== "running") known.delete(id);
  }
}
