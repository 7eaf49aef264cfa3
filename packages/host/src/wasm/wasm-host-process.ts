import { isKernelError, KernelError } from "@narthex/contracts";
import { type HandleHostCall, HOST_FAULTS, type WasmEnd } from "@narthex/kernel";
import { encodeMessage, type WorkerMessage, MessageReader } from "../files/worker/worker-message.ts";
import type { ContainedProgram } from "../sandbox/start-contained.ts";
import { explainEnding } from "./explain-ending.ts";
import { parseHostReply } from "./parse-host-reply.ts";
import { HOST_REPLY_BOUNDS, type HostReply, type HostRequest, type LoadOptions } from "./worker/messages.ts";

/** The part of a contained program that a host needs. */
export type HostProgram = Pick<ContainedProgram, "stdin" | "stdout" | "stderr" | "ended" | "kill">;

/** A loaded module, or why the host rejected it. */
export type LoadOutcome = { readonly cpuMs: number } & (
  | { readonly taken: true; readonly declaration: Uint8Array | undefined }
  | { readonly taken: false; readonly reason: string; readonly message: string }
);

/** One run of a loaded module. */
export interface HostRun {
  readonly key: string;
  readonly fuel: number;
  /** CPU time limit; undefined for none. */
  readonly cpuMs?: number | undefined;
  readonly input: Uint8Array;
}

interface Job {
  /** For a run: handles its host calls. */
  readonly answer: HandleHostCall | undefined;
  /** The host call in progress: until it is handled, the host must not send anything for this job. */
  pendingHostCall: Promise<void> | undefined;
  /** Set when the job was told to stop: pending host calls get no response. */
  isStopped: boolean;
  resolve(said: JobResult): void;
  reject(fault: KernelError): void;
}

/** The message that ends a job. */
interface JobResult {
  readonly reply: HostReply;
  readonly payload: Buffer;
}

const MAX_STOP_MS = 5000;

/** Result of a call that was cancelled before it started. */
export const NEVER_RUN: WasmEnd = {
  ending: { kind: "stopped" },
  usage: { fuel: 0, memoryBytes: 0, cpuMs: 0, isPartial: false },
};

/** One host process and its jobs. It is ended if it sends anything that does not belong to its jobs. */
export class WasmHostProcess {
  /** Resolves when all of its processes have ended. */
  readonly ended: Promise<void>;
  /** Number of calls it was given. */
  calls = 0;
  readonly #program: HostProgram;
  readonly #frames = new MessageReader(HOST_REPLY_BOUNDS);
  readonly #jobs = new Map<number, Job>();
  #nextId = 1;
  #fault: KernelError | undefined;

  constructor(program: HostProgram) {
    this.#program = program;
    program.stderr.resume();
    program.stdout.on("data", (piece: Buffer) => this.#receive(piece));
    for (const pipe of [program.stdin, program.stdout, program.stderr]) pipe.on("error", () => undefined);
    this.ended = program.ended.then(
      () => this.fail(new KernelError("SANDBOX_ERROR", ENDED)),
      (fault: unknown) => this.fail(isKernelError(fault) ? fault : new KernelError("SANDBOX_ERROR", ENDED)),
    );
  }

  get isAlive(): boolean {
    return this.#fault === undefined;
  }

  /** Resolves when the host accepts jobs. */
  async untilReady(timeoutMs: number): Promise<void> {
    const late = new KernelError("SANDBOX_ERROR", "the wasm host did not start in time");
    const { reply } = await this.#within(timeoutMs, late, this.#begin(0, undefined));
    if (reply.type !== "ready") throw this.#distrust();
  }

  /** Meters and compiles a module; it can then be run by this key. */
  async load(key: string, bytes: Uint8Array, options: LoadOptions, timeoutMs: number): Promise<LoadOutcome> {
    const id = this.#nextId++;
    const startedMs = performance.now();
    const saying = this.#begin(id, undefined);
    this.#send(id, { type: "load", key, options }, bytes);
    const late = new KernelError("RESOURCE_EXCEEDED", `the module takes longer than ${timeoutMs} ms to load`);
    const { reply, payload } = await this.#within(timeoutMs, late, saying);
    if (reply.type !== "rejected" && reply.type !== "loaded") throw this.#distrust();
    const cpuMs = Math.min(reply.cpuMs, Math.ceil(performance.now() - startedMs));
    if (reply.type === "rejected") return { taken: false, reason: reply.reason, message: reply.message, cpuMs };
    return { taken: true, declaration: reply.isDeclared ? Uint8Array.from(payload) : undefined, cpuMs };
  }

  /** Returns undefined if no module is loaded under the key. */
  async run(
    { key, fuel, cpuMs, input }: HostRun,
    answer: HandleHostCall,
    signal: AbortSignal,
  ): Promise<WasmEnd | undefined> {
    if (signal.aborted) return NEVER_RUN;
    this.calls++;
    const startedMs = performance.now();
    const id = this.#nextId++;
    const saying = this.#begin(id, answer);
    this.#send(id, { type: "run", key, fuel, cpuMs }, input);
    const onAbort = (): void => this.#stop(id);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const { reply, payload } = await saying;
      if (reply.type === "missing") return undefined;
      if (reply.type !== "ended") throw this.#distrust();
      return explainEnding(reply, payload, performance.now() - startedMs);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Ends the host and rejects all jobs. Only the first fault counts. */
  fail(fault: KernelError): void {
    if (this.#fault !== undefined) return;
    this.#fault = fault;
    this.#program.kill();
    for (const job of this.#jobs.values()) job.reject(fault);
    this.#jobs.clear();
  }

  #begin(id: number, answer: HandleHostCall | undefined): Promise<JobResult> {
    if (this.#fault !== undefined) throw this.#fault;
    const { promise, resolve, reject } = Promise.withResolvers<JobResult>();
    const job: Job = { answer, pendingHostCall: undefined, isStopped: false, resolve, reject };
    this.#jobs.set(id, job);
    return afterHostCall(promise, job);
  }

  async #within(timeoutMs: number, late: KernelError, saying: Promise<JobResult>): Promise<JobResult> {
    const timer = setTimeout(() => this.fail(late), timeoutMs);
    try {
      return await saying;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Stops one job. A host that does not end it in time is ended with all its jobs. */
  #stop(id: number): void {
    const job = this.#jobs.get(id);
    if (job === undefined || job.isStopped) return;
    job.isStopped = true;
    this.#send(id, { type: "stop" });
    const timer = setTimeout(() => {
      if (this.#jobs.has(id)) this.fail(new KernelError("SANDBOX_ERROR", "the wasm host did not end a call in time"));
    }, MAX_STOP_MS);
    timer.unref();
  }

  #send(id: number, request: HostRequest, payload?: Uint8Array): void {
    for (const piece of encodeMessage(id, request, payload)) this.#program.stdin.write(piece);
  }

  #receive(piece: Buffer): void {
    if (this.#fault !== undefined) return;
    try {
      for (const frame of this.#frames.push(piece)) this.#hear(frame);
    } catch {
      this.#distrust();
    }
  }

  #hear({ id, header, payload }: WorkerMessage): void {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new TypeError("nobody asked");
    const reply = parseHostReply(header);
    if (reply.type === "host_call") {
      if (job.answer === undefined || job.pendingHostCall !== undefined) throw new TypeError("nothing can be asked");
      // Otherwise the host call was sent before the host knew that the job was stopped.
      if (!job.isStopped)
        job.pendingHostCall = this.#answer(id, job, job.answer, { code: reply.code, request: payload });
      return;
    }
    if (job.pendingHostCall !== undefined && !job.isStopped) throw new TypeError("an answer is due");
    this.#jobs.delete(id);
    job.resolve({ reply, payload });
  }

  async #answer(
    id: number,
    job: Job,
    answer: HandleHostCall,
    call: { readonly code: number; readonly request: Uint8Array },
  ): Promise<void> {
    try {
      const given = await answer(call);
      job.pendingHostCall = undefined;
      if (job.isStopped || this.#fault !== undefined) return;
      if (typeof given === "string") this.#send(id, { type: "answer", status: HOST_FAULTS[given] });
      else this.#send(id, { type: "answer", status: 0 }, given);
    } catch {
      // The handler keeps the reason for its failure; here the call just ends.
      this.#stop(id);
    }
  }

  #distrust(): KernelError {
    const fault = new KernelError("SANDBOX_ERROR", "the wasm host said something that makes no sense");
    this.fail(fault);
    return fault;
  }
}

/** Waits for a pending host call even if the job was stopped: the kernel's work for it may still change something. */
async function afterHostCall(saying: Promise<JobResult>, job: Job): Promise<JobResult> {
  try {
    return await saying;
  } finally {
    await job.pendingHostCall;
  }
}

const ENDED = "the wasm host ended before the call did";
