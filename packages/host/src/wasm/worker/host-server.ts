import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { encodeFrame, type Frame, FrameReader } from "../../files/worker/frame.ts";
import { HOST_REQUEST_BOUNDS, type HostReply, type HostRequest } from "./messages.ts";
import { ThreadHandle } from "./thread-handle.ts";
import type { LoadedModule, ThreadReply, ThreadRequest } from "./thread-messages.ts";

/** So many compiled modules are kept; the one that was used least recently goes first. */
const MAX_MODULES = 64;

interface Job {
  readonly id: number;
  readonly request: ThreadRequest;
  readonly key: string;
  thread: ThreadHandle | undefined;
}

/**
 * The main thread of a host: hands jobs to threads, and host calls of theirs to the kernel. The kernel sends no more
 * jobs at a time than there may be threads.
 */
export class HostServer {
  readonly #program: URL;
  readonly #jobs = new Map<number, Job>();
  readonly #idle: ThreadHandle[] = [];
  /** By key, the one that was used last at the end. */
  readonly #modules = new Map<string, LoadedModule>();

  constructor(program: URL) {
    this.#program = program;
  }

  serve(): void {
    const requests = new FrameReader(HOST_REQUEST_BOUNDS);
    const input = new Socket({ fd: 0, readable: true, writable: false });
    input.on("data", (piece: Buffer) => {
      for (const frame of requests.push(piece)) this.#handle(frame);
    });
    input.on("end", () => process.exit(0));
    // The first job finds a thread that has started already.
    this.#idle.push(new ThreadHandle(this.#program));
    say(0, { type: "ready" });
  }

  #handle({ id, header, payload }: Frame): void {
    const request = header as HostRequest;
    switch (request.type) {
      case "load":
        this.#start({
          id,
          key: request.key,
          request: { type: "load", original: Uint8Array.from(payload), options: request.options },
          thread: undefined,
        });
        break;
      case "run":
        this.#run(id, request.key, request.fuel, Uint8Array.from(payload));
        break;
      case "answer":
        this.#jobs.get(id)?.thread?.post({ type: "answer", status: request.status, bytes: Uint8Array.from(payload) });
        break;
      case "stop":
        void this.#stop(id);
        break;
    }
  }

  #run(id: number, key: string, fuel: number, input: Uint8Array): void {
    const loaded = this.#modules.get(key);
    if (loaded === undefined) {
      say(id, { type: "missing" });
      return;
    }
    this.#modules.delete(key);
    this.#modules.set(key, loaded);
    this.#start({ id, key, request: { type: "run", key, loaded, fuel, input }, thread: undefined });
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
    thread.post(isKnown ? { ...request, loaded: undefined } : request);
    if (request.type === "run") thread.known.add(job.key);
  }

  #takeThread(): ThreadHandle {
    for (let thread = this.#idle.pop(); thread !== undefined; thread = this.#idle.pop()) {
      if (!thread.isEnded) return thread;
    }
    return new ThreadHandle(this.#program);
  }

  #hear(job: Job, thread: ThreadHandle, reply: ThreadReply): void {
    if (reply.type === "host_call") {
      say(job.id, { type: "host_call", code: reply.code }, reply.request);
      return;
    }
    this.#jobs.delete(job.id);
    thread.listen(undefined);
    this.#idle.push(thread);
    switch (reply.type) {
      case "ended":
        say(job.id, { type: "ended", ...reply.ending, use: reply.use }, reply.bytes);
        break;
      case "rejected":
        say(job.id, reply);
        break;
      case "loaded":
        this.#keep(job.key, reply.loaded);
        say(job.id, { type: "loaded", isDeclared: reply.declaration !== undefined }, reply.declaration);
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

  /** The thread is gone with all that its module was about to do. */
  async #stop(id: number): Promise<void> {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    this.#jobs.delete(id);
    await job.thread?.terminate();
    say(id, { type: "ended", how: "stopped" });
  }

  #lose(job: Job): void {
    this.#jobs.delete(job.id);
    if (job.request.type === "load") {
      say(job.id, { type: "rejected", reason: "size", message: "it takes more memory to load than there is" });
    } else say(job.id, { type: "ended", how: "trapped", trap: "other" });
  }
}

/** Whole frames, before anything else is done: the kernel waits for them. */
function say(id: number, reply: HostReply, payload?: Uint8Array): void {
  for (const piece of encodeFrame(id, reply, payload)) {
    for (let done = 0; done < piece.length; ) done += writeSync(1, piece, done);
  }
}
