import type { ShellBackend } from "@narthex/kernel";
import type { SandboxLevel } from "../sandbox/open-containment.ts";
import type { Toolchain } from "../toolchains/toolchain.ts";

/** What this host enforces, as it was tried. */
export interface HostReport {
  readonly level: SandboxLevel;
  /** What an administrator can do about the level. */
  readonly problem: string | undefined;
  readonly mechanisms: readonly Mechanism[];
  readonly toolchains: readonly Toolchain[];
  /** The PATH of programs inside. */
  readonly path: string;
  readonly toolClasses: readonly ToolClass[];
  /** How programs of the shell are run. */
  readonly shellBackend: ShellBackend;
  readonly steps: readonly FixStep[];
}

export interface Mechanism {
  readonly name: string;
  readonly state: "holds" | "fails" | "untried";
  /** How it was tried. */
  readonly how: string;
  /** What was seen. */
  readonly found: string;
  /** What to do where it fails. */
  readonly advice: string | undefined;
}

export interface ToolClass {
  readonly name: "files" | "shell" | "git";
  readonly state: "ready" | "degraded" | "disabled";
  readonly reasons: readonly string[];
  /** What an administrator can do about it, where there is one thing. */
  readonly fix: string | undefined;
}

/** Something an administrator does. */
export interface FixStep {
  readonly title: string;
  /** Lines to be typed or written. */
  readonly lines: readonly string[];
}
