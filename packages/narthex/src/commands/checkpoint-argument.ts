import { readFile } from "node:fs/promises";
import { create, GetCheckpointRequestSchema } from "@narthex/contracts";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { CommandError } from "../terminal/command-error.ts";
import { parseCount } from "../terminal/units.ts";

/** A checkpoint named by the user: by its size, or by a file with the checkpoint the user kept. */
export interface CheckpointArgument {
  readonly size: number;
  /** Text of the kept checkpoint. */
  readonly note: string | undefined;
}

const MAX_NOTE_BYTES = 16 * 1024;

export async function readCheckpointArgument(name: string): Promise<CheckpointArgument> {
  const size = parseCount(name);
  if (size !== undefined) return { size, note: undefined };
  const note = await readCheckpointFile(name);
  const { parseCheckpointText, parseNote } = await import("@narthex/kernel");
  const checkpoint = parseCheckpointText(parseNote(note)?.text ?? "");
  if (checkpoint === undefined) {
    throw new CommandError("INVALID_INPUT", `\`${name.slice(0, 120)}\` holds no checkpoint`, {
      next: "name the size of a checkpoint, or a file that holds one as `narthex ledger checkpoint` prints it",
    });
  }
  return { size: checkpoint.size, note };
}

/** Reads a file that should hold a checkpoint. The caller checks whether it does. */
export async function readCheckpointFile(name: string): Promise<string> {
  return readFile(name).then(
    (bytes) => (bytes.length > MAX_NOTE_BYTES ? "" : bytes.toString("utf8")),
    (cause: unknown) => {
      throw new CommandError("INVALID_INPUT", `\`${name.slice(0, 120)}\` cannot be read`, {
        cause,
        next: "name a checkpoint, or a file that holds one",
      });
    },
  );
}

/**
 * Returns the size if the ledger has exactly this checkpoint.
 *
 * SECURITY: detecting a different checkpoint of the same size is the very reason why users keep checkpoints.
 */
export async function requireSameCheckpoint(
  { size, note }: CheckpointArgument,
  kernel: KernelConnection,
): Promise<bigint> {
  const treeSize = BigInt(size);
  if (note === undefined) return treeSize;
  const { checkpoint } = await kernel.getCheckpoint(create(GetCheckpointRequestSchema, { treeSize }));
  if (checkpoint?.note === note) return treeSize;
  throw new CommandError(
    "LOG_CONTRADICTS",
    `the checkpoint of ${size} records that you kept is not the one of this ledger`,
    {
      next: "check that it is a checkpoint of this home; if it is, the ledger was changed or replaced",
    },
  );
}
