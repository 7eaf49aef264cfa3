import { KernelError } from "@narthex/contracts";
import type { ProgramExit, JobOutput, JobState, RunningProgram, ShellJob } from "@narthex/kernel";
import { JobOutputBuffer } from "./job-output-buffer.ts";

const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_READ_BYTES = 256 * 1024;
/** Maximum amount of input that the job has not read yet. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

export interface JobOptions {
  readonly id: string;
  readonly program: RunningProgram;
  readonly timeoutMs: number | undefined;
}

/** A program that outlives its call. Its most recent output is kept up to a limit, whether or not it is read. */
export class BackgroundJob implements ShellJob {
  readonly id: string;
  readonly ended: ShellJob["ended"];
  readonly #program: RunningProgram;
  readonly #log = new JobOutputBuffer(MAX_KEPT_BYTES);
  readonly #waiting = new Set<() => void>();
  readonly #timer: NodeJS.Timeout | undefined;
  #state: JobState = { state: "running", exitCode: undefined, notes: [] };
  #reason: string | undefined;
  #isInputClosed = false;
  #unread = 0;

  constructor({ id, program, timeoutMs }: JobOptions) {
    this.id = id;
    this.#program = program;
    this.ended = this.#follow();
    if (timeoutMs === undefined) return;
    this.#timer = setTimeout(() => this.end(`it did not finish within ${timeoutMs} ms`), timeoutMs);
  }

  get state(): JobState {
    return this.#state;
  }

  async read(offset: number, waitMs: number, signal: AbortSignal): Promise<JobOutput> {
    if (waitMs > 0 && this.#log.size <= offset && this.#state.state === "running") await this.#news(waitMs, signal);
    const { dropped, size } = this.#log;
    return { ...this.#state, ...this.#log.read(offset, MAX_READ_BYTES), dropped, size };
  }

  async write(data: Uint8Array): Promise<void> {
    if (this.#state.state !== "running") throw new KernelError("EXECUTION_FAILED", "the job has ended");
    if (this.#isInputClosed) throw new KernelError("EXECUTION_FAILED", "the job's input was closed");
    if (this.#unread + data.length > MAX_UNREAD_BYTES) {
      throw new KernelError("RESOURCE_EXCEEDED", "the job has not read its earlier input: wait until it has");
    }
    this.#unread += data.length;
    // Not awaited: a job may read slowly, and access to its output must not depend on that.
    void this.#program.write(data).then(() => {
      this.#unread -= data.length;
    });
    await Promise.resolve();
  }

  endInput(): void {
    this.#isInputClosed = true;
    this.#program.endInput();
  }

  async kill(): Promise<void> {
    this.#program.kill();
    await this.ended;
  }

  /** Kills the job. Its notes then state the reason. */
  end(reason: string): void {
    this.#reason ??= reason;
    this.#program.kill();
  }

  async #follow(): Promise<{ readonly cpuMs: number }> {
    const gather = async (stream: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const chunk of stream) {
        this.#log.push(chunk);
        this.#wake();
      }
    };
    const reading = Promise.allSettled([gather(this.#program.stdout), gather(this.#program.stderr)]);
    const [state, cpuMs] = await this.#program.ended.then(
      (end) => [this.#describe(end), end.cpuMs] as const,
      (fault: unknown) => [this.#failed(fault), 0] as const,
    );
    await reading;
    clearTimeout(this.#timer);
    this.#state = state;
    this.#wake();
    return { cpuMs };
  }

  #describe({ exitCode, exceeded, putBack }: ProgramExit): JobState {
    const notes: string[] = [];
    if (this.#reason !== undefined) notes.push(`the job was killed: ${this.#reason}`);
    if (exceeded !== undefined) {
      const { limit, allowed, peak } = exceeded;
      const how =
        limit === "disk"
          ? `${allowed} bytes must stay free, and ${peak} are`
          : `at most ${allowed}, and it came to ${peak}`;
      notes.push(`the job was killed: RESOURCE_EXCEEDED, ${limit}: ${how}`);
    }
    if (putBack.length > 0) {
      const paths = putBack.map((path) => `\`${path}\``).join(", ");
      notes.push(`UNDECLARED_EFFECT: the job changed what is protected, and it was put back: ${paths}`);
    }
    return { state: exitCode === undefined ? "killed" : "exited", exitCode, notes };
  }

  #failed(fault: unknown): JobState {
    const message = fault instanceof Error ? fault.message : String(fault);
    return { state: "killed", exitCode: undefined, notes: [`the sandbox failed: ${message}`] };
  }

  /** Resolves when there is new output, the job has ended, the wait time is over, or the call is aborted. */
  #news(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", finish);
        this.#waiting.delete(finish);
        resolve();
      };
      const timer = setTimeout(finish, waitMs);
      signal.addEventListener("abort", finish, { once: true });
      this.#waiting.add(finish);
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
