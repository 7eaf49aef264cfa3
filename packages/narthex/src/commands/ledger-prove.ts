import { create, isKernelError, ProveConsistencyRequestSchema, ProveRecordRequestSchema } from "@narthex/contracts";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command, Invocation } from "./command.ts";
import { readNamedCheckpoint, requireSameCheckpoint } from "./held-checkpoint.ts";
import { parseRecordReference } from "./record-reference.ts";

export const ledgerProveCommand: Command = {
  details:
    "Prints a proof that anybody can check who has the log's verifier key (`log/verifier-key` in the home), and nothing else: " +
    "of a record, that it is among those a checkpoint covers; with --from, that a newer checkpoint covers all that an older " +
    "one does, unchanged. A checkpoint is named by its size, or by a file in which you kept it. If no checkpoint covers the " +
    "record yet, one is signed first. Both formats are in docs/formats/log.md.",
  arguments: [{ name: "[record]", description: "a record's index, or SESSION/REQUEST for the outcome of a call" }],
  options: [
    {
      flags: "--checkpoint <size-or-file>",
      description: "the checkpoint that covers the record (default: the newest)",
    },
    { flags: "--without-record", description: "leave the record itself out, for somebody who has it" },
    { flags: "--from <size-or-file>", description: "the older checkpoint" },
    { flags: "--to <size-or-file>", description: "the newer checkpoint (default: the newest)" },
  ],
  examples: [
    "narthex ledger prove 12 > record-12.tlog-proof",
    "narthex ledger prove ses_abcdefghij234567abcd/req-1 --checkpoint kept.note",
    "narthex ledger prove --from 100 --to 250",
  ],

  run(invocation) {
    const { options } = invocation;
    const record = invocation.arguments[0];
    const from = options.text("from");
    if ((record === undefined) === (from === undefined)) {
      throw usageError("name a record, or --from and perhaps --to for two checkpoints");
    }
    if (record === undefined) {
      if (options.text("checkpoint") !== undefined || options.flag("without-record")) {
        throw usageError("--checkpoint and --without-record are for the proof of a record");
      }
      return proveConsistency(from ?? "", options.text("to"), invocation);
    }
    if (options.text("to") !== undefined) throw usageError("--to goes with --from");
    return proveRecord(record, invocation);
  },
};

async function proveRecord(record: string, invocation: Invocation): Promise<number> {
  const { options, terminal } = invocation;
  const which = parseRecordReference(record);
  const name = options.text("checkpoint");
  const named = name === undefined ? undefined : await readNamedCheckpoint(name);
  const proven = await withConnection(invocation, "ledger prove", async (kernel) => {
    const index = "index" in which ? BigInt(which.index) : (await kernel.getRecord(which)).index;
    const treeSize = named === undefined ? 0n : await requireSameCheckpoint(named, kernel);
    const request = create(ProveRecordRequestSchema, {
      index,
      treeSize,
      withoutRecord: options.flag("without-record"),
    });
    return { index, ...(await signedFirst(kernel, treeSize === 0n, () => kernel.proveRecord(request))) };
  });
  const { proof, index, treeSize } = proven;
  if (terminal.json) terminal.printJson({ index: Number(index), tree_size: Number(treeSize), proof });
  else terminal.print(proof.trimEnd());
  return EXIT_OK;
}

/** A record that is too new is signed for, if nobody named the checkpoint. */
async function signedFirst<T>(kernel: KernelConnection, maySign: boolean, prove: () => Promise<T>): Promise<T> {
  try {
    return await prove();
  } catch (fault) {
    if (!maySign || !(isKernelError(fault) && fault.code === "RECORD_NOT_SIGNED")) throw fault;
    await kernel.signCheckpoint();
    return prove();
  }
}

async function proveConsistency(from: string, to: string | undefined, invocation: Invocation): Promise<number> {
  const { terminal } = invocation;
  const older = await readNamedCheckpoint(from);
  const newer = to === undefined ? undefined : await readNamedCheckpoint(to);
  const { proof, toSize } = await withConnection(invocation, "ledger prove", async (kernel) => {
    const fromSize = await requireSameCheckpoint(older, kernel);
    const newerSize = newer === undefined ? 0n : await requireSameCheckpoint(newer, kernel);
    return kernel.proveConsistency(create(ProveConsistencyRequestSchema, { fromSize, toSize: newerSize }));
  });
  if (terminal.json) terminal.printJson({ from_size: older.size, to_size: Number(toSize), proof });
  else terminal.print(proof.trimEnd());
  return EXIT_OK;
}
