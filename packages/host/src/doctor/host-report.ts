import type { ShellBackend } from "@narthex/kernel";
import type { SandboxLevel } from "../sandbox/open-containment.ts";
import type { Toolchain } from "../toolchains/toolchain.ts";

/** What this host enforces, according to actual tests. */
export interface HostReport {
  readonly level: SandboxLevel;
  /** What an administrator can do to reach the full level. */
  readonly problem: string | undefined;
  readonly mechanisms: readonly Mechanism[];
  readonly toolchains: readonly Toolchain[];
  /** PATH of programs inside the sandbox. */
  readonly path: string;
  readonly toolClasses: readonly ToolClass[];
  /** How the shell runs its programs. */
  readonly shellBackend: ShellBackend;
  readonly steps: readonly FixStep[];
}

export interface Mechanism {
  readonly name: string;
  readonly state: "holds" | "fails" | "untried";
  /** How the mechanism was tested. */
  readonly how: string;
  /** Result of the test. */
  readonly found: string;
  /** What to do if it fails. */
  readonly advice: string | undefined;
}

export interface ToolClass {
  readonly name: "files" | "shell" | "git";
  readonly state: "ready" | "degraded" | "disabled";
  readonly reasons: readonly string[];
  /** What an administrator can do about it, if there is a single fix. */
  readonly fix: string | undefined;
}

/** One step for an administrator. */
export interface FixStep {
  readonly title: string;
  /** Commands or file contents. */
  readonly lines: readonly string[];
}
