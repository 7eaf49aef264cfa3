import { blake3, canonicalJsonBytes, type JsonObject, toHex } from "@narthex/contracts";
import type { CommandWord } from "./tool-manifest.ts";

/** One file of a program as pinned when the tool was added. */
export interface PinnedFile {
  /** Path relative to the manifest. */
  readonly path: string;
  readonly size: number;
  /** BLAKE3, lower-case hex. */
  readonly hash: string;
  readonly isExecutable: boolean;
}

/**
 * Everything that decides which code runs when the tool is called, except for the interpreter installed on the host.
 */
export interface ProgramPin {
  readonly kind: "subprocess" | "module";
  readonly command: readonly CommandWord[];
  readonly files: readonly PinnedFile[];
  readonly secrets: ReadonlyMap<string, string>;
}

export function pinFile(path: string, bytes: Uint8Array, isExecutable: boolean): PinnedFile {
  return { path, size: bytes.length, hash: toHex(blake3(bytes)), isExecutable };
}

/** Returns the hash of a program for the tool's definition: the same command and the same bytes give the same hash. */
export function hashProgram(pin: ProgramPin): string {
  return toHex(blake3(canonicalJsonBytes(pinToJson(pin))));
}

export function pinToJson({ kind, command, files, secrets }: ProgramPin): JsonObject {
  return {
    kind,
    command: command.map((word) => ({ ...word })),
    files: files
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ path, size, hash, isExecutable }) => ({ path, size, hash, executable: isExecutable })),
    secrets: Object.fromEntries(secrets),
  };
}
