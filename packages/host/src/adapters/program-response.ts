import { type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import type { ExceededBound, ProgramResult } from "@narthex/kernel";

/** Maximum size of a program's stdout, and of its stderr. */
export const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const MAX_TAIL_BYTES = 4096;
const MAX_TAIL_CHARACTERS = 300;

/** Collects the output of a program: all of stdout, and the end of stderr. */
export class ProgramResponse {
  readonly #chunks: Buffer[] = [];
  #tail: Buffer = Buffer.alloc(0);

  take(stream: "stdout" | "stderr", chunk: Uint8Array): void {
    if (stream === "stdout") this.#chunks.push(Buffer.from(chunk));
    else this.#tail = Buffer.from(Buffer.concat([this.#tail, chunk]).subarray(-MAX_TAIL_BYTES));
  }

  /** Returns the response of the program. Throws an error with a fitting code if the program failed. */
  read({ exitCode, exceeded }: ProgramResult): JsonValue {
    if (exceeded !== undefined) throw exceededError(exceeded);
    if (exitCode !== 0) throw new KernelError("EXECUTION_FAILED", `${describeEnd(exitCode)}${this.#said()}`);
    const answer = Buffer.concat(this.#chunks);
    if (answer.length === 0) {
      throw new KernelError("INVALID_OUTPUT", `it answered nothing; one JSON value must be printed${this.#said()}`);
    }
    try {
      return parseJson(answer);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new KernelError("INVALID_OUTPUT", `its output is not one JSON value: ${reason}`, { cause });
    }
  }

  /** The end of stderr on one line, without invisible characters. */
  #said(): string {
    const text = new TextDecoder()
      .decode(this.#tail)
      .replaceAll(/[\s\p{C}]+/gu, " ")
      .trim();
    if (text === "") return "";
    return `; it said: ${text.length > MAX_TAIL_CHARACTERS ? "… " : ""}${text.slice(-MAX_TAIL_CHARACTERS)}`;
  }
}

function describeEnd(exitCode: number | undefined): string {
  if (exitCode === undefined) return "it was killed";
  return exitCode > 128 ? `it was ended by signal ${exitCode - 128}` : `it ended with exit code ${exitCode}`;
}

function exceededError({ limit, allowed, peak }: ExceededBound): KernelError {
  if (limit === "wall clock") return new KernelError("TIMEOUT", `it did not finish within ${allowed} ms`);
  const units = (amount: number): string =>
    limit === "memory" || limit === "output" ? `${Math.ceil(amount / 1_048_576)} MB` : String(amount);
  return new KernelError("RESOURCE_EXCEEDED", `${limit}: at most ${units(allowed)}, and it came to ${units(peak)}`);
}
