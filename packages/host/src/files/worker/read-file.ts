import { fstatSync, readSync } from "node:fs";
import { FileFault } from "./file-fault.ts";

/** Reads bytes of an open file. Throws if the file became shorter. */
export function readRange(file: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = readSync(file, bytes, done, length - done, offset + done);
    if (count === 0) throw new FileFault("EXECUTION_FAILED", "changed");
    done += count;
  }
  return bytes;
}

/** Reads a whole file whose size was determined before. Throws if it changed while it was read. */
export function readWhole(file: number, size: number): Buffer {
  const before = fstatSync(file, { bigint: true });
  const bytes = readRange(file, 0, size);
  const after = fstatSync(file, { bigint: true });
  if (before.size !== BigInt(size) || after.size !== before.size || after.mtimeNs !== before.mtimeNs) {
    throw new FileFault("EXECUTION_FAILED", "changed");
  }
  return bytes;
}
