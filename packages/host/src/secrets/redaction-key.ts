import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import { writeDurableFile } from "../merkle/durable-file.ts";
import { storeUnavailable, systemErrorCode } from "../system/system-error.ts";

const KEY_BYTES = 32;
const HEX = /^[0-9a-f]{64}\n?$/;

/**
 * Opens the home's key for telling redacted inputs apart; creates it at first use. It signs and encrypts nothing: if it
 * is lost, calls with secrets in their inputs are no longer recognised as repeats.
 */
export async function openRedactionKey(directory: string): Promise<Uint8Array> {
  const path = join(directory, "redaction.key");
  const found = await readKey(path);
  if (found !== undefined) return found;
  const key = randomBytes(KEY_BYTES);
  await writeDurableFile(path, `${key.toString("hex")}\n`, `${path}.draft`).catch((cause: unknown) => {
    throw storeUnavailable("the key for redacted inputs cannot be written", cause);
  });
  return new Uint8Array(key);
}

async function readKey(path: string): Promise<Uint8Array | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: unknown) => {
      if (systemErrorCode(cause) === "ENOENT") return undefined;
      throw storeUnavailable("the key for redacted inputs cannot be opened", cause);
    },
  );
  if (file === undefined) return undefined;
  try {
    const text = await file.readFile("utf8");
    if (HEX.test(text)) return new Uint8Array(Buffer.from(text.trim(), "hex"));
    throw new KernelError(
      "STORE_UNAVAILABLE",
      `\`${path.slice(0, 300)}\` is damaged; remove it to have a new one made`,
    );
  } finally {
    await file.close();
  }
}
