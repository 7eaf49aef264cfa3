import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { equalBytes, KernelError } from "@narthex/contracts";
import type { Signer, SigningKeys } from "@narthex/kernel";
import { syncDirectory } from "../system/sync-directory.ts";
import { storeUnavailable, systemErrorCode } from "../system/system-error.ts";
import { writeDurableFile } from "./durable-file.ts";

const OTHERS = 0o077;
/** Several times the size of a PEM file with one Ed25519 key. */
const MAX_KEY_BYTES = 4096;
/** SubjectPublicKeyInfo puts this before the 32 bytes of an Ed25519 key. */
const SPKI_PREFIX_BYTES = 12;
const signWith = promisify<null, Uint8Array, KeyObject, Buffer>(sign);

/** The signing keys of a home. SPEC: docs/formats/log.md, "Keys". */
export function openSigningKeys(directory: string): SigningKeys {
  const current = join(directory, "log-signing-key.pem");
  const next = join(directory, "log-signing-key.next.pem");
  const lost = join(directory, "log-signing-key.lost.pem");

  async function makeKey(path: string): Promise<Signer> {
    const { privateKey } = generateKeyPairSync("ed25519");
    const pem = privateKey.export({ type: "pkcs8", format: "pem" });
    await writeDurableFile(path, String(pem), `${path}.draft`).catch((cause: unknown) => {
      throw storeUnavailable("the key that signs checkpoints cannot be written", cause);
    });
    return createSigner(privateKey);
  }

  return {
    async open(publicKey) {
      const found = await readKey(current);
      if (publicKey === undefined) return found ?? makeKey(current);
      if (found !== undefined && equalBytes(found.publicKey, publicKey)) {
        // Left by a rotation that ended before the key was announced, so it was never used.
        await rm(next, { force: true });
        return found;
      }
      const successor = await readKey(next);
      if (successor !== undefined && equalBytes(successor.publicKey, publicKey)) {
        await rename(next, current);
        await syncDirectory(directory);
        return successor;
      }
      throw unusable(current, found === undefined ? "is missing" : "is not the key that the ledger announced");
    },
    prepareNext: () => makeKey(next),
    async prepareAfterLoss() {
      // Kept in case it is the right key after all, on a failing disk.
      await rename(current, lost).catch((cause: unknown) => {
        if (systemErrorCode(cause) !== "ENOENT")
          throw storeUnavailable("what is left of the key cannot be moved", cause);
      });
      return makeKey(next);
    },
  };
}

/** SECURITY: checks and reads the file through one descriptor, so that it cannot be swapped in between. */
async function readKey(path: string): Promise<Signer | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((cause: unknown) => {
    if (systemErrorCode(cause) === "ENOENT") return undefined;
    throw unusable(path, `cannot be opened (${systemErrorCode(cause) ?? "unknown error"})`, cause);
  });
  if (file === undefined) return undefined;
  try {
    const { mode, uid, size } = await file.stat();
    if (uid !== process.getuid?.()) throw unusable(path, "belongs to another user");
    if ((mode & OTHERS) !== 0) {
      throw unusable(
        path,
        "can be read by others, so that its signatures prove nothing; look who read it, `chmod 600` it",
      );
    }
    if (size > MAX_KEY_BYTES) throw unusable(path, "is damaged");
    return createSigner(parseKey(await file.readFile("utf8"), path));
  } finally {
    await file.close();
  }
}

function parseKey(pem: string, path: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // Without the cause, which might quote the key.
    throw unusable(path, "is damaged");
  }
  if (key.asymmetricKeyType !== "ed25519") throw unusable(path, "is no Ed25519 key");
  return key;
}

function createSigner(key: KeyObject): Signer {
  const publicKey = new Uint8Array(
    createPublicKey(key).export({ type: "spki", format: "der" }).subarray(SPKI_PREFIX_BYTES),
  );
  return { publicKey, sign: async (text) => new Uint8Array(await signWith(null, text, key)) };
}

function unusable(path: string, why: string, cause?: unknown): KernelError {
  return new KernelError("LOG_KEY_UNUSABLE", `the key that signs checkpoints, \`${path.slice(0, 300)}\`, ${why}`, {
    cause,
  });
}
