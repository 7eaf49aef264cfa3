import { resolve } from "node:path";
import { equalBytes, isKernelError, type Violation } from "@narthex/contracts";
import {
  assemblePolicy,
  findImpossibleRules,
  homePaths,
  loadPolicySet,
  readPolicyDirectory,
  reviewRules,
} from "@narthex/host";
import { compileCedar, type Policy } from "@narthex/kernel";
import { tryServicesConnection } from "../connection/open-connection.ts";
import { EXIT_OK, exitCodeOf } from "../terminal/exit-code.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { addHomeToAdvice } from "../terminal/add-home-to-advice.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";
import { readPolicyTools } from "./policy-tools.ts";

export const policyCheckCommand: Command = {
  details:
    "Reads every .cedar file of DIR as a kernel of this home would: syntax, annotations, and every action, attribute and " +
    "type against the schema of the built-in tools and those that were added. Each problem is a line FILE:LINE:COLUMN: " +
    "MESSAGE. A rule that asks a person and never can, because another one permits the same calls without asking, is a " +
    "problem. Warnings tell of rules that can never match. Exit code 4: there is a problem.",
  arguments: [{ name: "[dir]", description: "a policy directory (default: that of the kernel's home)" }],
  examples: ["narthex policy check", "narthex policy check ./policies"],

  async run({ arguments: [given], home, terminal }) {
    const directory = given === undefined ? homePaths(home).policy : resolve(given);
    const { schema, tools } = await readPolicyTools(home);
    try {
      const files = await readPolicyDirectory(directory);
      const loaded = await loadPolicySet(files, schema);
      const { rules, policies } = loaded;
      const remarks = reviewRules(loaded, schema, tools);
      const advice = remarks.filter(({ isAdvice }) => isAdvice).map(({ violation }) => violation);
      const warnings = [...loaded.warnings, ...(await findImpossibleRules(loaded, schema, tools)), ...advice];
      const problems = remarks.filter(({ isAdvice }) => !isAdvice).map(({ violation }) => violation);
      if (problems.length > 0) {
        printProblems({ problems, warnings, note: "these rules do not do what they say" }, terminal);
        return exitCodeOf("POLICY_INVALID");
      }
      const { engine, unsupported } = compileCedar(policies);
      const fallback = unsupported === undefined ? "" : `rule \`${unsupported.rule}\`: ${unsupported.message}`;
      const summary = { rules: rules.length, files: files.length, engine: engine?.name ?? "cedar-wasm", fallback };
      if (terminal.json) terminal.printJson({ valid: true, ...summary, problems: [], warnings: warnings.map(toJson) });
      else {
        printValid(summary, warnings, terminal);
        if (given === undefined && (await isOutdated(home, await assemblePolicy(files, schema)))) {
          terminal.note(
            addHomeToAdvice(
              "the kernel that runs has other rules: `narthex policy reload` puts these in force",
              terminal,
            ),
          );
        }
      }
      return EXIT_OK;
    } catch (fault) {
      if (!isKernelError(fault) || fault.code !== "POLICY_INVALID") throw fault;
      const { violations, message } = fault;
      const problems = violations.length > 0 ? violations : [{ field: "", rule: "format", message } as const];
      printProblems({ problems, warnings: [], note: "with these rules every call is denied" }, terminal);
      return exitCodeOf(fault.code);
    }
  },
};

/** Whether a running kernel of this home has a policy in force that differs from the policy files. */
async function isOutdated(home: string, { current }: Policy): Promise<boolean> {
  const kernel = await tryServicesConnection(home);
  if (kernel === undefined || "problem" in current) return false;
  try {
    return !equalBytes((await kernel.getPolicy()).policyHash, current.hash);
  } finally {
    await kernel.close();
  }
}

interface Summary {
  readonly rules: number;
  readonly files: number;
  readonly engine: string;
  readonly fallback: string;
}

function printValid(
  { rules, files, engine, fallback }: Summary,
  warnings: readonly Violation[],
  terminal: Terminal,
): void {
  for (const warning of warnings) terminal.print(`${terminal.paint.yellow("warning:")} ${lineOf(warning)}`);
  const are = rules === 1 ? "is" : "are";
  terminal.print(`${count(rules, "rule")} in ${count(files, "file")} ${are} valid; evaluated by ${engine}`);
  if (fallback !== "") terminal.print(visible(`slower than need be, because of ${fallback}`));
}

interface FoundProblems {
  readonly problems: readonly Violation[];
  readonly warnings: readonly Violation[];
  /** Consequence of the problems. */
  readonly note: string;
}

function printProblems({ problems, warnings, note }: FoundProblems, terminal: Terminal): void {
  if (terminal.json) {
    terminal.printJson({ valid: false, problems: problems.map(toJson), warnings: warnings.map(toJson) });
    return;
  }
  for (const warning of warnings) terminal.print(`${terminal.paint.yellow("warning:")} ${lineOf(warning)}`);
  for (const problem of problems) terminal.print(lineOf(problem));
  terminal.note(`${count(problems.length, "problem")}: ${note}`);
}

function lineOf({ field, message }: Violation): string {
  return visible(field === "" ? message : `${field}: ${message}`);
}

function toJson({ field, rule, message }: Violation) {
  return { place: field, rule, message };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
