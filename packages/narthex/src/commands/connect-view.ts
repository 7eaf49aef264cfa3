import type { JsonObject } from "@narthex/contracts";
import type { Client } from "../connect/client.ts";
import type { IgnoredFiles } from "../connect/connection-record.ts";
import { countAdded, lineDifference } from "../connect/line-difference.ts";
import { isChanged, type PlannedFile } from "../connect/plan-connection.ts";
import type { PolicyTable } from "../connect/policy-table.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visible } from "../terminal/visible.ts";

/** Everything that is printed before and after the files are written. */
export interface ConnectionView {
  readonly name: string;
  readonly client: Client;
  /** Files to change. */
  readonly plans: readonly PlannedFile[];
  /** Files to add to git's list of ignored files. */
  readonly ignored: IgnoredFiles | undefined;
  readonly host: string;
  readonly policy: PolicyTable;
  readonly warnings: readonly string[];
  /** Command line that reverts the changes. */
  readonly undo: string;
  readonly next: readonly string[];
}

/** Prints what the host enforces, what the policy decides, every line that changes, and the remaining limitations. */
export function printDifference(view: ConnectionView, terminal: Terminal): void {
  const { client, plans, ignored, host, policy, warnings } = view;
  const rows = [
    ["unasked", policy.allowed],
    ["asks", policy.needApproval],
    ["denied", policy.denied],
  ] as const;
  printFacts(
    terminal,
    ["client", client.title],
    ["host", host],
    ...rows.map(([name, calls]) => [name, calls.length === 0 ? "nothing" : calls.join(", ")] as const),
  );
  for (const plan of plans) {
    terminal.print("", `  ${visible(plan.file.name)}${plan.file.text === undefined ? " (new)" : ""}`);
    printLines(plan, terminal);
  }
  if (ignored !== undefined) {
    terminal.print("", "  .git/info/exclude, so that no commit takes these files along");
    for (const line of ignored.lines) terminal.print(`    ${terminal.paint.green(`+ ${visible(line)}`)}`);
  }
  if (plans.length > 0 || ignored !== undefined) terminal.print("");
  // Printed before anything is written, because the limitations may change the user's mind.
  for (const text of client.limitations) printFacts(terminal, ["stays", text]);
  for (const text of [...warnings, ...policy.notes]) printFacts(terminal, ["beware", text]);
}

export function printSummary(
  { client, plans, ignored, undo, next }: ConnectionView,
  { isWritten, isDry }: { readonly isWritten: boolean; readonly isDry: boolean },
  terminal: Terminal,
): void {
  const changed = plans.map((plan) => `${plan.file.name} (${describeCount(plan)})`);
  const files = [...changed, ...(ignored === undefined ? [] : [".git/info/exclude"])].join(", ");
  if (files === "") printFacts(terminal, ["changed", "nothing to change: it is connected"]);
  else if (isDry) printFacts(terminal, ["would", `change ${files}; nothing was written`]);
  else if (!isWritten) printFacts(terminal, ["changed", "nothing was written"]);
  else {
    printFacts(terminal, ["changed", `${files}: ${client.switchedOff}`], ["undo", undo]);
  }
  if (!isWritten) return;
  printFacts(terminal, ["beware", "the files name paths of this machine: others connect for themselves"]);
  terminal.print("");
  for (const text of next) {
    const [first = "", ...rest] = renderFacts([["next:", text]], terminal.columns);
    terminal.print(first.replace(/^next: {2}/, `${terminal.paint.dim("next:")} `), ...rest);
  }
}

export function printUndo(
  plans: readonly PlannedFile[],
  { isKnown, isDry }: { readonly isKnown: boolean; readonly isDry: boolean },
  terminal: Terminal,
): void {
  if (!isKnown) return terminal.print("nothing to undo: nothing is recorded as connected here");
  for (const plan of plans.filter(isChanged)) {
    const verb = plan.text === undefined ? "removed" : "changed";
    printFacts(terminal, [isDry ? "would" : verb, isDry ? `be ${verb}: ${plan.file.name}` : plan.file.name]);
    if (isDry) printLines(plan, terminal);
  }
  for (const { file, conflicts } of plans) {
    for (const place of conflicts) printFacts(terminal, ["left", `${file.name}: ${place} was changed since`]);
  }
  if (!plans.some(isChanged)) terminal.print("nothing to undo: what was added is gone");
}

export function connectionToJson(
  { name, client, plans, ignored, host, policy, warnings, next }: ConnectionView,
  { workspace, isWritten }: { readonly workspace: string; readonly isWritten: boolean },
): JsonObject {
  return {
    client: name,
    workspace,
    host,
    policy: { unasked: [...policy.allowed], asks: [...policy.needApproval], denied: [...policy.denied] },
    changed: plans.map(fileToJson),
    ignored: [...(ignored?.lines ?? [])],
    written: isWritten,
    stays: [...client.limitations],
    warnings: [...warnings, ...policy.notes],
    next: [...next],
  };
}

export function undoToJson(plans: readonly PlannedFile[], { isWritten }: { readonly isWritten: boolean }): JsonObject {
  return {
    changed: plans.filter(isChanged).map(fileToJson),
    written: isWritten,
    left: plans.flatMap(({ file, conflicts }) => conflicts.map((place) => ({ file: file.name, place }))),
  };
}

function fileToJson(plan: PlannedFile): JsonObject {
  const lines = differenceOf(plan);
  return {
    file: plan.file.name,
    created: plan.file.text === undefined,
    removed: plan.text === undefined,
    difference: lines.map(({ mark, text }) => `${mark}${text}`),
  };
}

function printLines(plan: PlannedFile, { print, paint }: Terminal): void {
  const colours = { " ": paint.dim, "-": paint.red, "+": paint.green } as const;
  for (const { mark, text } of differenceOf(plan)) print(`    ${colours[mark](`${mark} ${visible(text)}`)}`);
}

function differenceOf({ file, text }: PlannedFile) {
  return lineDifference(file.text ?? "", text ?? "");
}

function describeCount(plan: PlannedFile): string {
  const { added, removed } = countAdded(differenceOf(plan));
  return [added > 0 && `+${added}`, removed > 0 && `-${removed}`].filter((part) => part !== false).join(" ") + " lines";
}

const WIDTH = "changed".length;

function printFacts(terminal: Terminal, ...facts: readonly (readonly [string, string])[]): void {
  const padded = facts.map(([name, value]) => [`  ${name.padEnd(WIDTH)}`, value] as const);
  terminal.print(...renderFacts(padded, terminal.columns));
}
