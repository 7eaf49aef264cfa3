import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = "b3sum";

/** BLAKE3 of each input by Debian's b3sum, in hex. */
export function b3sum(inputs: readonly Uint8Array[]): string[] {
  const directory = mkdtempSync(join(tmpdir(), "narthex-b3sum-"));
  try {
    const files = inputs.map((bytes, index) => {
      const file = join(directory, String(index));
      writeFileSync(file, bytes);
      return file;
    });
    const output = execFileSync(PROGRAM, ["--no-names", ...files], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
    return output.trimEnd().split("\n");
  } finally {
    rmSync(directory, { recursive: true });
  }
}
