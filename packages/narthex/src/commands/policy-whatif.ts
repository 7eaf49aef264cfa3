import { resolve } from "node:path";
import { assemblePolicy, homePaths, openLedgerFiles, readPolicyDirectory } from "@narthex/host";
import { printChanges, printNotEvaluated, trialToJson } from "../policy-trial/trial-view.ts";
import { tryPolicy } from "../policy-trial/try-policy.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_DIVERGED, EXIT_OK, EXIT_UNREADABLE } from "../terminal/exit-code.ts";
import { formatCount, formatCounted } from "../terminal/units.ts";
import type { Command } from "./command.ts";
import { readPolicyTools } from "./policy-tools.ts";

export const policyWhatifCommand: Command = {
  details:
    "Evaluates the rules of DIR over every decision that the ledger holds, and lists those that would be another: denied, " +
    "allowed, or asked about. Nothing changes, and no kernel is stopped. What cannot be evaluated is counted by reason, and " +
    "never as unchanged: erased content, a tool that is gone, facts that the present schema lacks. Exit code 0: nothing " +
    "would change. 10: something would. 30: nothing that could be evaluated would, but not all could be.",
  options: [
    { flags: "--policy <dir>", description: "the candidate: a directory of .cedar files" },
    { flags: "--session <id>", description: "only decisions of this session" },
  ],
  examples: ["narthex policy whatif --policy ./candidate"],

  async run({ options, home, terminal }) {
    const named = options.text("policy");
    if (named === undefined) throw usageError("policy whatif needs --policy DIR, the rules to try");
    const paths = homePaths(home);
    const { schema } = await readPolicyTools(home);
    const files = await readPolicyDirectory(resolve(named));
    const policy = await assemblePolicy(files, schema);
    const ledger = openLedgerFiles(paths.store, paths.content);
    try {
      const trial = tryPolicy(ledger, { policy, schema, chain: options.text("session") });
      const { decisions, changed, unchanged, notEvaluated, groups } = trial;
      if (terminal.json) terminal.printJson(trialToJson(trial));
      else {
        terminal.print(
          `${formatCount(changed)} of ${formatCounted(decisions, "decision")} would change, ${formatCount(unchanged)} would not`,
        );
        printChanges(groups, terminal);
        printNotEvaluated(notEvaluated, terminal);
      }
      if (changed > 0) return EXIT_DIVERGED;
      return notEvaluated.size > 0 ? EXIT_UNREADABLE : EXIT_OK;
    } finally {
      ledger.close();
    }
  },
};
