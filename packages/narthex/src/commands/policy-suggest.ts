import { resolve } from "node:path";
import { writeFile } from "node:fs/promises";
import { assemblePolicy, homePaths, loadPolicySet, openLedgerFiles, readPolicyDirectory } from "@narthex/host";
import { type SelectedCalls, selectCalls } from "../policy-trial/select-calls.ts";
import type { DecisionPlace } from "../policy-trial/recorded-decisions.ts";
import { type Suggestion, suggestRules } from "../policy-trial/suggest-rules.ts";
import { printChanges, printNotEvaluated, trialToJson } from "../policy-trial/trial-view.ts";
import { type Trial, tryPolicy } from "../policy-trial/try-policy.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";
import { readPolicyTools } from "./policy-tools.ts";

export const policySuggestCommand: Command = {
  details:
    "For calls that people approved: of these approvals, of a session, or of the whole ledger. With --observed, for what " +
    'observe mode let through although the rules would not have. Each rule is as narrow as an answer "as a rule" would ' +
    "have made it, is checked against the schema, and is shown with every other call of the ledger that it would have " +
    "allowed. Nothing is put in force: read it, write it into the policy directory, reload.",
  arguments: [{ name: "[approval...]", description: "ids of approvals, as `narthex ledger show` prints them" }],
  options: [
    { flags: "--session <id>", description: "only calls of this session" },
    { flags: "--observed", description: "for what observe mode let through, instead of approvals" },
    { flags: "--out <file>", description: "also write the rules into this file, which must not be there yet" },
  ],
  examples: [
    "narthex policy suggest apr_abcdefghij234567abcd",
    "narthex policy suggest --session ses_abcdefghij234567abcd --out suggested.cedar",
    "narthex policy suggest --observed",
  ],

  async run({ arguments: approvals, options, home, terminal }) {
    const paths = homePaths(home);
    const { schema, tools } = await readPolicyTools(home);
    const choice = {
      approvalIds: new Set(approvals),
      sessionId: options.text("session"),
      observed: options.flag("observed"),
    };
    const ledger = openLedgerFiles(paths.store, paths.content);
    try {
      const chosen = selectCalls(ledger, choice);
      const files = await readPolicyDirectory(paths.policy);
      const { rules: inForce } = await loadPolicySet(files, schema);
      const alwaysRules = new Set(inForce.filter(({ approve }) => approve === "always").map(({ id }) => id));
      const suggestion = suggestRules(chosen.calls, tools, alwaysRules);
      const refused = [...chosen.refused, ...suggestion.refused];
      if (suggestion.rules.length === 0) throw nothingToSuggest(refused);
      const text = suggestion.rules.map((rule) => rule.text).join("\n");
      // A suggestion that does not fit the schema throws POLICY_INVALID and is never shown.
      const policy = await assemblePolicy([...files, { name: "suggested.cedar", text }], schema);
      const baseline = await assemblePolicy(files, schema);
      const trial = tryPolicy(ledger, { policy, baseline, schema, isExcluded: createSelectionFilter(chosen) });
      const out = options.text("out");
      if (out !== undefined) await writeFile(resolve(out), text, { flag: "wx", mode: 0o600 });
      if (terminal.json) {
        terminal.printJson({
          rules: suggestion.rules.map(({ names, ...rule }) => ({ ...rule, made_from: [...names] })),
          refused,
          beyond: trialToJson(trial),
        });
      } else print({ ...suggestion, refused }, trial, terminal);
      return EXIT_OK;
    } finally {
      ledger.close();
    }
  },
};

/** Matches all decisions about the chosen calls: an approved call is decided again before it runs. */
function createSelectionFilter({ calls }: SelectedCalls): (decision: DecisionPlace) => boolean {
  const keyOf = ({ chain, requestId }: DecisionPlace): string => `${chain}/${requestId}`;
  const chosen = new Set(calls.map(({ decision }) => keyOf(decision)));
  return (decision) => chosen.has(keyOf(decision));
}

function nothingToSuggest(refused: Suggestion["refused"]): CommandError {
  const [first] = refused;
  const why = first === undefined ? "the ledger holds no such call" : `${first.name}: ${first.why}`;
  return new CommandError("RECORD_NOT_FOUND", `there is no rule to suggest: ${why}`, {
    next: "name approvals that were given, or `--observed` after a time in observe mode",
  });
}

function print({ rules, refused }: Suggestion, trial: Trial, terminal: Terminal): void {
  for (const { text, allows, names } of rules) {
    terminal.print(
      visible(`// for ${names.join(", ")}; allows ${allows}`),
      ...text
        .trimEnd()
        .split("\n")
        .map((line) => visible(line)),
      "",
    );
  }
  for (const { name, why } of refused) terminal.print(visible(`no rule for ${name}: ${why}`));
  terminal.print(
    `besides these, ${formatCount(trial.changed)} of ${formatCount(trial.decisions)} recorded decisions would be others:`,
  );
  printChanges(trial.groups, terminal);
  printNotEvaluated(trial.notEvaluated, terminal);
}
