import { resolve } from "node:path";
import { type JsonObject, type VerifyReport, VerifyReportSchema } from "@narthex/contracts";
import { verifyBundleFile } from "../bundle/verify-bundle-file.ts";
import type { VerifyOptions } from "../connection/kernel-connection.ts";
import { openVerificationState, type VerificationState } from "../connection/verification-state.ts";
import { verifyHome } from "../connection/verify-home.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_LEDGER_BROKEN, EXIT_OK, EXIT_UNREADABLE } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { createProgressBar } from "../terminal/progress-bar.ts";
import type { Command, Invocation } from "./command.ts";
import { readCheckpointFile } from "./checkpoint-argument.ts";
import { printVerifyReport } from "./verify-view.ts";

export const ledgerVerifyCommand: Command = {
  details:
    "Reads every record and all content with a verifier of its own, and checks hashes, order, commitments, proofs of " +
    "decisions and the signed checkpoints of the Merkle tree. Integrity: nothing in the ledger was changed. Completeness: nothing is " +
    "missing. An attacker who can write the whole home could have rewritten all of it: --key and --checkpoint supply what you know from " +
    "elsewhere. With --resume, records that an earlier run with --resume found sound are not read again, and the report says so: " +
    "a later change of them is found only once a newer checkpoint covers it. Exit code 20 means broken, 30 unreadable.",
  arguments: [{ name: "[bundle]", description: "a file that `ledger export` wrote, instead of the home's ledger" }],
  options: [
    { flags: "--key <verifier-key>", description: "the verifier key of the ledger, as you learned it earlier" },
    {
      flags: "--checkpoint <file>",
      description: "a checkpoint that you kept; detects a ledger that was rolled back or forked",
      repeatable: true,
    },
    {
      flags: "--records-only",
      description: "leave content out: neither its digests nor commitments nor proofs of decisions are checked",
    },
    {
      flags: "--resume",
      description: "continue from where the last run with --resume ended, and remember where this one ends",
    },
    {
      flags: "--memory <file>",
      description: "where --resume keeps its state (default: your state directory, one file for each home)",
    },
  ],
  examples: [
    "narthex ledger verify",
    "narthex ledger verify --checkpoint kept-elsewhere.note",
    "narthex ledger verify --json",
    "narthex ledger verify --resume",
    "narthex ledger verify session.bundle",
  ],

  async run(invocation) {
    const { terminal, signal, options } = invocation;
    const memory = await openState(invocation);
    const bar = createProgressBar(terminal, { label: "records" });
    let report: VerifyReport;
    try {
      const checkpoints = await Promise.all(options.texts("checkpoint").map(readCheckpointFile));
      const remembering = memory && { remember: true, before: await memory.read() };
      const recordsOnly = options.flag("records-only");
      const asked = { signal, verifierKey: options.text("key"), checkpoints, recordsOnly, ...remembering };
      report = await verify(invocation, { ...asked, onProgress: bar.update });
    } finally {
      bar.finish();
    }
    const { verified } = report;
    if (terminal.json) terminal.printJson(omitVerificationState(messageToJson(VerifyReportSchema, report)));
    else printVerifyReport(report, terminal);
    if (memory !== undefined && verified.length > 0) await memory.write(verified);
    if (report.problems.some(({ code }) => code === "unreadable")) return EXIT_UNREADABLE;
    return report.intact && report.complete ? EXIT_OK : EXIT_LEDGER_BROKEN;
  },
};

/** Removes the verification state, which is long and useless to readers of the report. */
function omitVerificationState({ verified: _verified, ...shown }: JsonObject): JsonObject {
  return shown;
}

function verify(invocation: Invocation, asked: VerifyOptions): Promise<VerifyReport> {
  const [file] = invocation.arguments;
  return file === undefined ? verifyHome(invocation, asked) : verifyBundleFile(resolve(file), asked);
}

async function openState({
  options,
  home,
  environment,
  arguments: [bundle],
}: Invocation): Promise<VerificationState | undefined> {
  const file = options.text("memory");
  if (!options.flag("resume")) {
    if (file !== undefined) throw usageError("--memory goes with --resume");
    return undefined;
  }
  if (options.flag("records-only"))
    throw usageError("what was left out cannot be gone on from: --resume reads content, too");
  if (bundle !== undefined) throw usageError("a bundle is always read whole: --resume is for the ledger of a home");
  return openVerificationState(home, file, environment);
}
