import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { MerklePublication } from "@narthex/kernel";
import { openPrivateDirectory } from "../system/private-directory.ts";
import { storeUnavailable, systemErrorCode } from "../system/system-error.ts";
import { writeDurableFile } from "./durable-file.ts";

/** The files of a Merkle tree that are published. SPEC: docs/formats/log.md, "Files". */
export function createMerklePublication(directory: string): MerklePublication {
  const keys = join(directory, "keys");
  const drafts = join(directory, "tmp");

  async function write(path: string, text: string): Promise<void> {
    await openPrivateDirectory(drafts);
    await writeDurableFile(path, text, join(drafts, basename(path))).catch((cause: unknown) => {
      throw storeUnavailable("the log's files cannot be written", cause);
    });
  }

  return {
    readCheckpoint: () => readIfThere(join(directory, "checkpoint")),
    writeCheckpoint: (note) => write(join(directory, "checkpoint"), note),
    async writeKey(number, note, verifierKey) {
      await openPrivateDirectory(keys);
      const path = join(keys, String(number).padStart(3, "0"));
      if ((await readIfThere(path)) !== note) await write(path, note);
      const inUse = join(directory, "verifier-key");
      if ((await readIfThere(inUse)) !== `${verifierKey}\n`) await write(inUse, `${verifierKey}\n`);
    },
  };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (fault) {
    if (systemErrorCode(fault) === "ENOENT") return undefined;
    throw storeUnavailable("the log's files cannot be read", fault);
  }
}
