import { writeSync } from "node:fs";

const STDOUT = 1;
const FULL_PIPE_MS = 1;

/** Prints a line before anything else can happen: what was said is out, whole, whatever comes next. */
export function sayLine(line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STDOUT, rest));
    } catch (fault) {
      if (!(fault instanceof Error && "code" in fault && fault.code === "EAGAIN")) throw fault;
      // Whoever reads is slow, and returning to the event loop would let the next thing happen.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
    }
  }
}
