import { constants, open } from "node:fs/promises";
import { join } from "node:path";
import { tilePath } from "@narthex/kernel/merkle";
import type { TreeFiles } from "@narthex/verify";

const MAX_NOTE_BYTES = 16 * 1024;
const MAX_TILE_BYTES = 256 * 32;

/** Reads the Merkle tree files of a home for the verifier. */
export function createHomeMerkleFiles(directory: string): TreeFiles {
  return {
    async readCheckpoint() {
      const bytes = await readSmall(join(directory, "checkpoint"), MAX_NOTE_BYTES);
      return bytes && Buffer.from(bytes).toString("utf8");
    },
    readTile: (level, number, hashes) =>
      readSmall(join(directory, "tile", tilePath({ level, index: number, width: hashes })), MAX_TILE_BYTES),
  };
}

/** SECURITY: the home's files are untrusted: follows no link, and reads a bounded number of bytes. */
async function readSmall(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (fault: unknown) => {
      if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return undefined;
      throw fault;
    },
  );
  if (file === undefined) return undefined;
  try {
    const bytes = new Uint8Array(maxBytes + 1);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
