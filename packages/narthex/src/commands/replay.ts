import { access } from "node:fs/promises";
import { resolve } from "node:path";
import {
  create,
  type ReplayReport,
  ReplayReportSchema,
  ReplayResponseSchema,
  type VerifyReport,
  VerifyReportSchema,
} from "@narthex/contracts";
import type { ReplaySelection, ReplayEvent } from "@narthex/server";
import { withBundle } from "../bundle/bundle-file.ts";
import { replayBundle } from "../bundle/replay-bundle.ts";
import { replayHome } from "../replay/replay-home.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_DIVERGED, EXIT_LEDGER_BROKEN, EXIT_OK, EXIT_UNREADABLE } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { createProgressBar } from "../terminal/progress-bar.ts";
import type { Command, Invocation } from "./command.ts";
import { printVerifyReport } from "./verify-view.ts";
import { printReplayedCall, printReplayReport, printReplayTotal } from "./replay-view.ts";

export const replayCommand: Command = {
  details:
    "Runs pure and deterministic calls again, with their seed, their clock and the files they read, makes every decision " +
    "again from its proof, and compares hashes. Other calls are taken from the record. Nothing is changed: no file, no " +
    "budget, not the ledger, which is verified first. Exit code 10 means that something came out otherwise, 20 that the " +
    "ledger is broken, 30 that it cannot be read.",
  arguments: [{ name: "[what...]", description: "ids of sessions; or a bundle, and ids of sessions in it" }],
  options: [
    { flags: "--all", description: "every session that is recorded" },
    { flags: "--calls", description: "also list calls that came out the same" },
    { flags: "--unverified", description: "do not verify the ledger first" },
  ],
  examples: [
    "narthex replay ses_abcdefghij234567abcd",
    "narthex replay --all --json",
    "narthex replay ./session.bundle",
  ],

  async run(invocation) {
    const { arguments: named, options, terminal } = invocation;
    const file = await findBundlePath(named);
    const sessionIds = file === undefined ? named : named.slice(1);
    if (file === undefined && options.flag("all") === named.length > 0) {
      throw usageError("replay needs the id of a session, a bundle, or --all");
    }
    const asked: ReplaySelection = {
      sessionIds: [...sessionIds],
      skipVerify: options.flag("unverified"),
      digestOnly: false,
      listCalls: options.flag("calls"),
    };
    const found = await (file === undefined
      ? printAndCollect(replayHome(invocation, asked), invocation)
      : withBundle(file, (bundle) => printAndCollect(replayBundle(bundle, asked, invocation), invocation)));
    if (terminal.json) terminal.printJson(toJson(found));
    else if (found.reports.length > 1) printReplayTotal(found.reports, terminal);
    return exitCodeFor(found);
  },
};

/** Treats an argument as a file unless it looks like a session id and no such file exists. */
async function findBundlePath([first]: readonly string[]): Promise<string | undefined> {
  if (first === undefined) return undefined;
  const path = resolve(first);
  if (!first.startsWith("ses_")) return path;
  return await access(path).then(
    () => path,
    () => undefined,
  );
}

interface ReplayFindings {
  verified: VerifyReport | undefined;
  readonly reports: ReplayReport[];
}

/** Prints events as they arrive. */
async function printAndCollect(events: AsyncIterable<ReplayEvent>, { terminal }: Invocation): Promise<ReplayFindings> {
  const bar = createProgressBar(terminal, { label: "records" });
  const found: ReplayFindings = { verified: undefined, reports: [] };
  try {
    for await (const message of events) {
      const { event } = create(ReplayResponseSchema, message);
      if (event.case === "verifying") bar.update(Number(event.value.recordsDone), Number(event.value.recordsTotal));
      else bar.finish();
      if (event.case === "verified") {
        found.verified = event.value;
        if (!terminal.json && !isSound(event.value)) printVerifyReport(event.value, terminal);
      }
      if (event.case === "call" && !terminal.json) printReplayedCall(event.value, terminal);
      if (event.case !== "report") continue;
      found.reports.push(event.value);
      if (!terminal.json) printReplayReport(event.value, terminal);
    }
  } finally {
    bar.finish();
  }
  return found;
}

function exitCodeFor({ verified, reports }: ReplayFindings): number {
  if (verified?.problems.some(({ code }) => code === "unreadable") === true) return EXIT_UNREADABLE;
  if (verified !== undefined && !isSound(verified)) return EXIT_LEDGER_BROKEN;
  return reports.every(({ clean }) => clean) ? EXIT_OK : EXIT_DIVERGED;
}

function isSound({ intact, complete }: VerifyReport): boolean {
  return intact && complete;
}

function toJson({ verified, reports }: ReplayFindings) {
  return {
    verified: verified === undefined ? null : messageToJson(VerifyReportSchema, verified),
    sessions: reports.map((report) => messageToJson(ReplayReportSchema, report)),
  };
}
