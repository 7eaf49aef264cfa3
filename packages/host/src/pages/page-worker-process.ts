import { isKernelError, KernelError } from "@narthex/contracts";
import type { FetchedPage, PageText } from "@narthex/kernel";
import { encodeMessage, type WorkerMessage, MessageReader } from "../files/worker/worker-message.ts";
import type { ContainedProgram, ProgramEnd } from "../sandbox/start-contained.ts";
import { explainFault } from "./explain-page-fault.ts";
import { parsePageReply } from "./parse-page-reply.ts";
import { PAGE_REPLY_BOUNDS, type PageReply } from "./worker/messages.ts";

/** The part of a contained program that a worker needs. */
export type PageProcess = Pick<ContainedProgram, "stdin" | "stdout" | "stderr" | "ended" | "kill">;

interface Waiter {
  readonly id: number;
  resolve(answer: PageResponse): void;
  reject(fault: KernelError): void;
}

interface PageResponse {
  readonly reply: PageReply;
  readonly payload: Buffer;
}

const MAX_CONTENT_TYPE = 1000;
const MAX_URL = 64 * 1024;

/**
 * One worker process, which reads one page at a time. It is ended if it sends anything but the response to its current
 * page.
 */
export class PageWorker {
  /** Resolves when all of its processes have ended. */
  readonly ended: Promise<void>;
  /** Number of pages it has read. */
  pages = 0;
  readonly #process: PageProcess;
  readonly #frames = new MessageReader(PAGE_REPLY_BOUNDS);
  #waiter: Waiter | undefined;
  #fault: KernelError | undefined;

  constructor(process: PageProcess) {
    this.#process = process;
    process.stderr.resume();
    process.stdout.on("data", (piece: Buffer) => this.#receive(piece));
    for (const pipe of [process.stdin, process.stdout, process.stderr]) pipe.on("error", () => undefined);
    this.ended = process.ended.then(
      (end) => this.fail(explainEnd(end)),
      (fault: unknown) => this.fail(isKernelError(fault) ? fault : new KernelError("SANDBOX_ERROR", ENDED)),
    );
  }

  get isAlive(): boolean {
    return this.#fault === undefined;
  }

  /** Resolves when the worker accepts requests. */
  async untilReady(timeoutMs: number): Promise<void> {
    const late = new KernelError("SANDBOX_ERROR", "the page reader's worker did not start in time");
    const { reply } = await this.#answerWithin(0, timeoutMs, late);
    if (reply.type !== "ready") throw this.#distrust();
  }

  /** Throws if the page cannot be read. Ends the worker if it takes too long or the caller cancels. */
  async read(page: FetchedPage, timeoutMs: number, signal: AbortSignal): Promise<PageText> {
    if (signal.aborted) throw cancelled();
    this.pages++;
    const { url, extent, contentType, bytes } = page;
    const request = { url: url.slice(0, MAX_URL), extent, contentType: contentType?.slice(0, MAX_CONTENT_TYPE) };
    const late = new KernelError("RESOURCE_EXCEEDED", `the page takes longer than ${timeoutMs} ms to read`);
    const onAbort = (): void => this.fail(cancelled());
    const answering = this.#answerWithin(this.pages, timeoutMs, late);
    for (const piece of encodeMessage(this.pages, request, bytes)) this.#process.stdin.write(piece);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return this.#textOf(await answering);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Ends the worker and rejects the pending read. Only the first fault counts. */
  fail(fault: KernelError): void {
    if (this.#fault !== undefined) return;
    this.#fault = fault;
    this.#process.kill();
    this.#waiter?.reject(fault);
    this.#waiter = undefined;
  }

  async #answerWithin(id: number, timeoutMs: number, late: KernelError): Promise<PageResponse> {
    if (this.#fault !== undefined) throw this.#fault;
    const { promise, resolve, reject } = Promise.withResolvers<PageResponse>();
    this.#waiter = { id, resolve, reject };
    const timer = setTimeout(() => this.fail(late), timeoutMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #textOf({ reply, payload }: PageResponse): PageText {
    if (reply.type === "ready") throw this.#distrust();
    if (reply.type === "failed") {
      const fault = explainFault(reply.reason);
      // The state of the worker's libraries is unknown after such a fault.
      if (reply.reason === "fault" || reply.reason === "depth") this.fail(fault);
      throw fault;
    }
    const text = this.#decode(payload);
    return { format: reply.format, text, title: reply.title, charset: reply.charset };
  }

  #decode(payload: Buffer): string {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
    } catch {
      throw this.#distrust();
    }
  }

  #receive(piece: Buffer): void {
    if (this.#fault !== undefined) return;
    try {
      for (const frame of this.#frames.push(piece)) this.#answer(frame);
    } catch {
      this.#distrust();
    }
  }

  #answer({ id, header, payload }: WorkerMessage): void {
    const waiter = this.#waiter;
    if (waiter?.id !== id) throw new TypeError("nobody asked");
    const reply = parsePageReply(header);
    this.#waiter = undefined;
    waiter.resolve({ reply, payload });
  }

  #distrust(): KernelError {
    const fault = new KernelError("SANDBOX_ERROR", "the page reader's worker said something that makes no sense");
    this.fail(fault);
    return fault;
  }
}

function cancelled(): KernelError {
  return new KernelError("CANCELLED", "the page is not wanted any more");
}

const ENDED = "the page reader's worker ended before it had read the page";
/** 128 + SIGABRT: Node aborts when its heap limit is reached. */
const OUT_OF_MEMORY = 134;

function explainEnd({ exitCode, exceeded }: ProgramEnd): KernelError {
  if (exitCode !== OUT_OF_MEMORY && exceeded?.limit !== "memory") return new KernelError("SANDBOX_ERROR", ENDED);
  return new KernelError("RESOURCE_EXCEEDED", "the page takes more memory to read than a page reader has");
}
