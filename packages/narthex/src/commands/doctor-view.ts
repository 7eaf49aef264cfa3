import type { JsonObject } from "@narthex/contracts";
import type { FixStep, HostReport, Mechanism, Toolchain, ToolClass } from "@narthex/host";
import type { UnsafeWorkspace } from "@narthex/kernel";
import { dataOption, quoteShellWords } from "../connect/program-line.ts";
import { type Column, renderFacts, renderTable } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { cutText, visible } from "../terminal/visible.ts";

const MEANINGS: Readonly<Record<HostReport["level"], string>> = {
  L0: "programs are contained, and the system enforces their totals",
  L1: "programs are contained, and a watchdog enforces their totals",
  L2: "nothing is contained here, so no program is run",
};

const STATES: Readonly<Record<Mechanism["state"], string>> = { holds: "yes", fails: "NO", untried: "untried" };
const MAX_CELL = 60;
const MAX_REASONS = 200;

const MECHANISMS: readonly Column<Mechanism>[] = [
  { title: "MECHANISM", value: ({ name }) => name },
  { title: "ENFORCED", value: ({ state }) => STATES[state] },
  { title: "HOW IT WAS TRIED", narrow: "drop", value: ({ how }) => how },
  {
    title: "WHAT WAS SEEN",
    narrow: "wrap",
    value: ({ found }) => cutText(found.replaceAll(/\s+/g, " ").replace(/,$/, ""), MAX_CELL),
  },
  { title: "WHAT TO DO", narrow: "wrap", value: ({ advice }) => advice ?? "" },
];

const TOOLCHAINS: readonly Column<Toolchain>[] = [
  { title: "TOOLCHAIN", value: ({ kind }) => kind },
  { title: "VERSION", value: ({ version }) => version ?? "" },
  { title: "PREFIX", narrow: "tail", value: ({ prefix }) => prefix },
  {
    title: "INSIDE",
    narrow: "wrap",
    value: ({ unusable }) => (unusable === undefined ? "read-only" : `not mounted: ${unusable}`),
  },
];

const CLASSES: readonly Column<ToolClass>[] = [
  { title: "TOOLS", value: ({ name }) => name },
  { title: "STATE", value: ({ state }) => state },
  { title: "WHY", narrow: "wrap", value: ({ reasons }) => cutText(reasons.join("; "), MAX_REASONS) },
];

/** Prints for people which mechanisms hold, which do not, and what that means for tools. */
export function printHostReport(report: HostReport, terminal: Terminal): void {
  const { level, problem, mechanisms, toolchains, toolClasses, shellBackend, steps } = report;
  const { paint } = terminal;
  printMechanisms(mechanisms, terminal);
  if (toolchains.length > 0) terminal.print(...renderTable(TOOLCHAINS, toolchains, terminal.columns), "");
  terminal.print(...renderTable(CLASSES, toolClasses, terminal.columns), "");
  const named = `${level}: ${MEANINGS[level]}`;
  terminal.print(level === "L2" ? paint.red(named) : paint.green(named));
  if (problem !== undefined) terminal.print(visible(problem));
  terminal.print(...renderFacts([["shell backend", shellBackend]]));
  if (steps.length > 0) terminal.print("", `${paint.dim("next:")} ${terminal.program} doctor --fix`);
}

/**
 * The advice in the last column is long and needed by few rows: if the table does not fit with it, the advice is
 * printed below the table.
 */
function printMechanisms(mechanisms: readonly Mechanism[], terminal: Terminal): void {
  const { columns: width } = terminal;
  const whole = renderTable(MECHANISMS, mechanisms);
  if (width === undefined || whole.every((line) => line.length <= width)) {
    terminal.print(...whole, "");
    return;
  }
  terminal.print(...renderTable(MECHANISMS.slice(0, -1), mechanisms, width), "");
  const advised = mechanisms.flatMap(({ name, advice }) => (advice === undefined ? [] : [[name, advice] as const]));
  if (advised.length > 0) terminal.print("WHAT TO DO", ...renderFacts(advised, width), "");
}

/** Prints the administrator's steps, ready to be copied. */
export function printSteps({ steps }: HostReport, terminal: Terminal): void {
  if (steps.length === 0) terminal.print("there is nothing to fix");
  for (const [at, { title, lines }] of steps.entries()) {
    if (at > 0) terminal.print("");
    terminal.print(visible(`# ${title}`), ...lines.map(visible));
  }
}

interface TypedProgram {
  /** What to type to run this program. */
  readonly program: string;
  readonly home: string;
}

/**
 * Prints the workspaces in which no program may run, and what to do about each.
 *
 * SECURITY: an attacker may have chosen a workspace's name, and the user copies the line into a shell.
 */
export function printUnsafe(
  unsafe: readonly UnsafeWorkspace[],
  { program, home }: TypedProgram,
  terminal: Pick<Terminal, "print" | "paint">,
): void {
  for (const { workspace, problem } of unsafe) {
    terminal.print("", terminal.paint.red(visible(`UNSAFE: ${workspace || "a workspace that is not known any more"}`)));
    terminal.print(visible(`protected paths may not be as they were: ${problem}`));
    terminal.print("no program runs there. Look at the paths above and at what lies beside them, then:");
    const words = quoteShellWords(["doctor", "--accept", workspace || "WORKSPACE", ...dataOption(home)]);
    terminal.print(visible(`${program} ${words}`));
  }
}

export function unsafeToJson({ workspace, problem }: UnsafeWorkspace): JsonObject {
  return { workspace, problem };
}

export function reportToJson(report: HostReport): JsonObject {
  return {
    level: report.level,
    meaning: MEANINGS[report.level],
    problem: report.problem ?? "",
    mechanisms: report.mechanisms.map(({ name, state, how, found, advice }) => ({
      name,
      state,
      how,
      found,
      advice: advice ?? "",
    })),
    toolchains: report.toolchains.map(({ kind, version, prefix, unusable, directories }) => ({
      kind,
      version: version ?? "",
      prefix,
      usable: unusable === undefined,
      reason: unusable ?? "",
      directories: [...directories],
    })),
    path: report.path,
    tool_classes: report.toolClasses.map(({ name, state, reasons, fix }) => ({
      name,
      state,
      reasons: [...reasons],
      fix: fix ?? "",
    })),
    shell_backend: report.shellBackend,
    steps: report.steps.map(stepToJson),
  };
}

function stepToJson({ title, lines }: FixStep): JsonObject {
  return { title, lines: [...lines] };
}
