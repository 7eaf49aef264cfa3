import { Socket } from "node:net";
import { type WorkerMessage, MessageReader } from "../../files/worker/worker-message.ts";
import { type HostEnding, HOST_REQUEST_BOUNDS, type HostRequest } from "./messages.ts";
import { ThreadHandle } from "./thread-handle.ts";
import type { LoadedModule, ThreadReply, ThreadRequest } from "./thread-messages.ts";
import { SharedMessageWriter } from "./shared-message-writer.ts";

/** Maximum number of compiled modules kept; the least recently used one is dropped first. */
const MAX_MODULES = 64;

/** Minimum interval between checks of a run's CPU time. */
const LOOK_MS = 50;

interface Job {
  readonly id: number;
  readonly request: ThreadRequest;
  readonly key: string;
  /** CPU time limit. */
  readonly cpuMs: number | undefined;
  thread: ThreadHandle | undefined;
  look?: NodeJS.Timeout;
}

/**
 * Main thread of a host: passes jobs, and the responses to their host calls, to threads. The kernel never sends more
 * concurrent jobs than the maximum number of threads.
 */
export class HostServer {
  readonly #program: URL;
  readonly #jobs = new Map<number, Job>();
  readonly #voice = new SharedMessageWriter();
  readonly #idle: ThreadHandle[] = [];
  /** Keyed by module key, the most recently used one last. */
  readonly #modules = new Map<string, LoadedModule>();

  constructor(program: URL) {
    this.#program = program;
  }

  serve(): void {
    const requests = new MessageReader(HOST_REQUEST_BOUNDS);
    const input = new Socket({ fd: 0, readable: true, writable: false });
    input.on("data", (piece: Buffer) => {
      for (const frame of requests.push(piece)) this.#handle(frame);
    });
    input.on("end", () => process.exit(0));
    // The first job then finds a thread that has already started.
    this.#idle.push(new ThreadHandle(this.#program, this.#voice.turn));
    this.#voice.write(0, { type: "ready" });
  }

  #handle({ id, header, payload }: WorkerMessage): void {
    const request = header as HostRequest;
    switch (request.type) {
      case "load":
        this.#start({
          id,
          key: request.key,
          request: { type: "load", original: Uint8Array.from(payload), options: request.options },
          cpuMs: undefined,
          thread: undefined,
        });
        break;
      case "run":
        this.#run(id, request, Uint8Array.from(payload));
        break;
      case "answer":
        this.#jobs.get(id)?.thread?.post({ type: "answer", status: request.status, bytes: Uint8Array.from(payload) });
        break;
      case "stop":
        void this.#stop(id, { how: "stopped" });
        break;
    }
  }

  #run(id: number, { key, fuel, cpuMs }: Extract<HostRequest, { type: "run" }>, input: Uint8Array): void {
    const loaded = this.#modules.get(key);
    if (loaded === undefined) {
      this.#voice.write(id, { type: "missing" });
      return;
    }
    this.#modules.delete(key);
    this.#modules.set(key, loaded);
    this.#start({ id, key, request: { type: "run", id, key, loaded, fuel, input }, cpuMs, thread: undefined });
  }

  #start(job: Job): void {
    const thread = this.#takeThread();
    job.thread = thread;
    this.#jobs.set(job.id, job);
    thread.listen({
      onReply: (reply) => this.#hear(job, thread, reply),
      onEnd: () => this.#lose(job),
    });
    const { request } = job;
    const isKnown = request.type === "run" && thread.known.has(job.key);
    thread.gauge.reset();
    thread.post(isKnown ? { ...request, loaded: undefined } : request);
    if (request.type === "run") thread.known.add(job.key);
    if (job.cpuMs !== undefined) this.#watch(job, thread, job.cpuMs);
  }

  /** Checks the CPU time of a run. A thread cannot use more than the elapsed time, so there is no earlier check. */
  #watch(job: Job, thread: ThreadHandle, allowed: number): void {
    const look = (): void => {
      if (!this.#jobs.has(job.id)) return;
      const peak = thread.gauge.seenCpuMs();
      // A thread that is gone has reported its end, or is about to.
      if (peak === undefined) return;
      if (peak > allowed) void this.#stop(job.id, { how: "exceeded", limit: "cpu", allowed, peak });
      else this.#watch(job, thread, allowed);
    };
    job.look = setTimeout(look, Math.max(LOOK_MS, allowed - (thread.gauge.seenCpuMs() ?? 0)));
  }

  #takeThread(): ThreadHandle {
    // A finished thread may have reached the kernel before its message arrived here.
    if (this.#idle.length === 0) for (const { thread } of this.#jobs.values()) thread?.drainMessages();
    for (let thread = this.#idle.pop(); thread !== undefined; thread = this.#idle.pop()) {
      if (!thread.isEnded) return thread;
    }
    return new ThreadHandle(this.#program, this.#voice.turn);
  }

  #hear(job: Job, thread: ThreadHandle, reply: ThreadReply): void {
    this.#jobs.delete(job.id);
    clearTimeout(job.look);
    thread.listen(undefined);
    this.#idle.push(thread);
    switch (reply.type) {
      case "ended":
        break;
      case "rejected":
        this.#voice.write(job.id, reply);
        break;
      case "loaded":
        this.#keep(job.key, reply.loaded);
        this.#voice.write(
          job.id,
          { type: "loaded", isDeclared: reply.declaration !== undefined, cpuMs: reply.cpuMs },
          reply.declaration,
        );
    }
  }

  #keep(key: string, loaded: LoadedModule): void {
    this.#modules.set(key, loaded);
    for (const [oldest] of this.#modules) {
      if (this.#modules.size <= MAX_MODULES) break;
      this.#modules.delete(oldest);
      for (const thread of this.#idle) {
        if (thread.known.delete(oldest)) thread.post({ type: "forget", key: oldest });
      }
    }
  }

  /** Stops a job by ending its thread, and with it everything that the module was about to do. */
  async #stop(id: number, ending: HostEnding): Promise<void> {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    clearTimeout(job.look);
    // INVARIANT: while this thread holds the writer's lock, no other thread does: any message that the thread has begun
    // to write is complete.
    this.#voice.lock();
    job.thread?.drainMessages();
    try {
      if (!this.#jobs.delete(id)) return;
      const use = job.thread?.gauge.seen();
      await job.thread?.terminate();
      this.#voice.write(id, { type: "ended", ...ending, use });
    } finally {
      this.#voice.unlock();
    }
  }

  #lose(job: Job): void {
    this.#jobs.delete(job.id);
    clearTimeout(job.look);
    if (job.request.type === "load") {
      this.#voice.write(job.id, {
        type: "rejected",
        reason: "size",
        message: "it takes more memory to load than there is",
        cpuMs: 0,
      });
    } else this.#voice.write(job.id, { type: "ended", how: "trapped", trap: "other" });
  }
}
