import { constants } from "node:fs";
import { mkdir, open, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { blake3, toHex, utf8 } from "@narthex/contracts";
import { isInside, stateDirectory, writePrivateFile } from "@narthex/host";
import { MAX_VERIFIED_BYTES } from "@narthex/verify";
import { CommandError, usageError } from "../terminal/command-error.ts";

const GROUP_OR_OTHER_WRITE = 0o022;
const NAME_DIGITS = 32;

/** Stores what a verification of a home has seen, for the next verification. */
export interface VerificationState {
  readonly path: string;
  /** Returns undefined if nothing is stored. */
  read(): Promise<Uint8Array | undefined>;
  write(verified: Uint8Array): Promise<void>;
}

/**
 * SECURITY: stored beside the home and never in it: an attacker who can change the ledger must not be able to change
 * what was verified of it. Keyed by the home's path and not by its Merkle tree, so that a different tree in the same
 * place is detected.
 */
export async function openVerificationState(
  home: string,
  file: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<VerificationState> {
  const realHome = await realpath(home).catch(() => resolve(home));
  const path = file === undefined ? defaultPath(realHome, environment) : resolve(file);
  if (file === undefined) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const directory = await realpath(dirname(path)).catch((cause: unknown) => {
    throw usageError(`the directory of \`${path.slice(0, 200)}\` cannot be found`, undefined, { cause });
  });
  if (isInside(realHome, directory)) {
    throw usageError(
      "what is remembered of a ledger must not lie in its home",
      "name a file that whoever runs the kernel cannot write",
    );
  }
  const real = join(directory, basename(path));
  return { path: real, read: () => readPrivateFile(real), write: (verified) => writePrivateFile(real, verified) };
}

function defaultPath(realHome: string, environment: NodeJS.ProcessEnv): string {
  const name = toHex(blake3(utf8(realHome))).slice(0, NAME_DIGITS);
  return join(stateDirectory(environment), "verified", name);
}

/** SECURITY: checks and reads the file through one descriptor; ignores a file that others can write. */
async function readPrivateFile(path: string): Promise<Uint8Array | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: unknown) => {
      if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
      throw unusable(path, "it cannot be opened", cause);
    },
  );
  if (file === undefined) return undefined;
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw unusable(path, "it is no file");
    if (facts.uid !== process.getuid?.()) throw unusable(path, "it belongs to another user");
    if ((facts.mode & GROUP_OR_OTHER_WRITE) !== 0) throw unusable(path, "others can write to it");
    if (facts.size > MAX_VERIFIED_BYTES) throw unusable(path, "it is too large");
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}

function unusable(path: string, why: string, cause?: unknown): CommandError {
  return new CommandError("INVALID_INPUT", `what is remembered in \`${path.slice(0, 200)}\` cannot be used: ${why}`, {
    cause,
    next: "look at how that came, remove the file, and verify everything",
  });
}
