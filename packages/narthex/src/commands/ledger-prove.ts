import { create, isKernelError, ProveConsistencyRequestSchema, ProveRecordRequestSchema } from "@narthex/contracts";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command, Invocation } from "./command.ts";
import { readCheckpointArgument, requireSameCheckpoint } from "./checkpoint-argument.ts";
import { parseRecordReference } from "./record-reference.ts";

export const ledgerProveCommand: Command = {
  details:
    "Prints a proof that anybody can check who has the log's verifier key (`log/verifier-key` in the home), and nothing else: " +
    "of a record, that it is among those a checkpoint covers; with --from, that a newer checkpoint covers all that an older " +
    "one does, unchanged. A checkpoint is named by its size, or by a file in which you kept it. If no checkpoint covers the " +
    "record yet, one is signed first. With --check, a proof from a file is checked by itself, on any machine, by the key that you trust: " +
    "exit code 20 if it does not hold, 30 if it is no proof. Both formats are in docs/formats/log.md.",
  arguments: [{ name: "[record]", description: "a record's index, or SESSION/REQUEST for the outcome of a call" }],
  options: [
    {
      flags: "--checkpoint <size-or-file>",
      description: "the checkpoint that covers the record (default: the newest)",
    },
    { flags: "--without-record", description: "leave the record itself out, for a reader who already has it" },
    { flags: "--from <size-or-file>", description: "the older checkpoint" },
    { flags: "--to <size-or-file>", description: "the newer checkpoint (default: the newest)" },
    { flags: "--check <file>", description: "check this proof; needs --key, and neither a home nor a kernel" },
    { flags: "--key <verifier-key>", description: "with --check: the key that you trust" },
    {
      flags: "--announcement <file>",
      description: "with --check: the files of `log/keys`, in their order, if a later key has signed",
      repeatable: true,
    },
    { flags: "--record-hash <hex>", description: "with --check: the hash of the record, if the proof is without it" },
  ],
  examples: [
    "narthex ledger prove 12 > record-12.tlog-proof",
    "narthex ledger prove ses_abcdefghij234567abcd/req-1 --checkpoint kept.note",
    "narthex ledger prove --from 100 --to 250",
    "narthex ledger prove --check record-12.tlog-proof --key narthex/log_abcdefghij234567abcd+a1b2c3d4+AQID",
  ],

  async run(invocation) {
    const { options } = invocation;
    const record = invocation.arguments[0];
    const from = options.text("from");
    const checked = options.text("check");
    if (checked !== undefined) {
      if (record !== undefined || PROVE_OPTIONS.some((name) => options.text(name) !== undefined)) {
        throw usageError("--check checks a proof that is there, and makes none");
      }
      const { checkProofFile } = await import("./check-proof-file.ts");
      return checkProofFile(checked, invocation);
    }
    if (CHECK_OPTIONS.some((name) => options.texts(name).length > 0))
      throw usageError("--key, --announcement and --record-hash go with --check");
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

const PROVE_OPTIONS = ["from", "to", "checkpoint"];
const CHECK_OPTIONS = ["key", "announcement", "record-hash"];

async function proveRecord(record: string, invocation: Invocation): Promise<number> {
  const { options, terminal } = invocation;
  const which = parseRecordReference(record);
  const name = options.text("checkpoint");
  const named = name === undefined ? undefined : await readCheckpointArgument(name);
  const proven = await withConnection(invocation, "ledger prove", async (kernel) => {
    const index = "index" in which ? BigInt(which.index) : (await kernel.getRecord(which)).index;
    const treeSize = named === undefined ? 0n : await requireSameCheckpoint(named, kernel);
    const request = create(ProveRecordRequestSchema, {
      index,
      treeSize,
      withoutRecord: options.flag("without-record"),
    });
    return { index, ...(await proveAfterSigning(kernel, treeSize === 0n, () => kernel.proveRecord(request))) };
  });
  const { proof, index, treeSize } = proven;
  if (terminal.json) terminal.printJson({ index: Number(index), tree_size: Number(treeSize), proof });
  else terminal.print(proof.trimEnd());
  return EXIT_OK;
}

/** Signs a checkpoint if no checkpoint covers the record yet, unless the user named a checkpoint. */
async function proveAfterSigning<T>(kernel: KernelConnection, maySign: boolean, prove: () => Promise<T>): Promise<T> {
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
  const older = await readCheckpointArgument(from);
  const newer = to === undefined ? undefined : await readCheckpointArgument(to);
  const { proof, toSize } = await withConnection(invocation, "ledger prove", async (kernel) => {
    const fromSize = await requireSameCheckpoint(older, kernel);
    const newerSize = newer === undefined ? 0n : await requireSameCheckpoint(newer, kernel);
    return kernel.proveConsistency(create(ProveConsistencyRequestSchema, { fromSize, toSize: newerSize }));
  });
  if (terminal.json) terminal.printJson({ from_size: older.size, to_size: Number(toSize), proof });
  else terminal.print(proof.trimEnd());
  return EXIT_OK;
}
