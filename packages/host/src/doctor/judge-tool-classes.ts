import type { ShellBackend } from "@narthex/kernel";
import type { SandboxLevel } from "../sandbox/open-containment.ts";
import type { Mechanism, ToolClass } from "./host-report.ts";

export interface ClassFacts {
  readonly level: SandboxLevel;
  /** Reason for level `L2`. */
  readonly problem: string | undefined;
  readonly fix: string | undefined;
  readonly mechanisms: readonly Mechanism[];
  /** Access that programs have to the current directory. */
  readonly access: "none" | "read" | "write";
  /** Whether the current directory can be a workspace. */
  readonly isWorkspace: boolean;
}

/** No program runs without these. Control groups are not listed, because the watchdog can replace them. */
const NEEDED_BY_ALL = ["process limits", "watchdog", "no process left"];

const NEEDS: ReadonlyArray<
  readonly [ToolClass["name"], needed: readonly string[], useful: ReadonlyMap<string, string>]
> = [
  ["files", ["node"], new Map([["ripgrep", "file_search is missing"]])],
  ["shell", [], new Map([["perl", "programs cannot be given the network"]])],
  ["git", ["git"], new Map([["perl", "remotes cannot be reached"]])],
];

const DISABLED_SHELL: ToolClass = {
  name: "shell",
  state: "disabled",
  reasons: ["`shell.backend` is `disabled` in narthex.yaml"],
  fix: "set it to `sandbox` or `session` to have commands run",
};

const BARE_SHELL: ToolClass = {
  name: "shell",
  state: "degraded",
  reasons: ["commands run on the host, and nothing contains them"],
  fix: "set `shell.backend` to `sandbox` in narthex.yaml",
};

/** Returns the same classes with the configured shell backend applied. */
export function withShellBackend(classes: readonly ToolClass[], backend: ShellBackend): ToolClass[] {
  const configured = backend === "disabled" ? DISABLED_SHELL : backend === "host" ? BARE_SHELL : undefined;
  return classes.map((one) => (one.name === "shell" ? (configured ?? one) : one));
}

/** Decides which tools can run safely here, which only in part, and why. Assumes a sandboxed shell. */
export function judgeToolClasses(facts: ClassFacts): ToolClass[] {
  const { level, problem, mechanisms, access, isWorkspace } = facts;
  const adviceOn = (row: string | undefined): string | undefined =>
    mechanisms.find(({ name, state }) => name === row && state === "fails")?.advice;
  const failures = new Map(mechanisms.filter(({ state }) => state === "fails").map((row) => [row.name, row.found]));
  return NEEDS.map(([name, needed, useful]) => {
    if (level === "L2") {
      return { name, state: "disabled", reasons: [problem ?? "nothing is contained here"], fix: facts.fix };
    }
    const broken = [...NEEDED_BY_ALL, ...needed].filter((row) => failures.has(row));
    if (broken.length > 0) {
      const reasons = broken.map((row) => `${row}: ${failures.get(row) ?? ""}`);
      return { name, state: "disabled", reasons, fix: adviceOn(broken[0]) };
    }
    const missing = [...useful].filter(([row]) => failures.has(row));
    const reasons = missing.map(([row, what]) => `${what}: ${row} fails`);
    if (isWorkspace && access !== "write") {
      reasons.push(`programs ${access === "read" ? "can only read" : "cannot enter"} the current directory`);
    }
    return { name, state: reasons.length === 0 ? "ready" : "degraded", reasons, fix: adviceOn(missing[0]?.[0]) };
  });
}
