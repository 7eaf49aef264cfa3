import { KernelError } from "@narthex/contracts";
import type { ProgramAccess, ProgramResult } from "@narthex/kernel";
import { exceededError } from "../programs/program-output.ts";
import { MAX_LISTING_BYTES } from "./config-entries.ts";
import type { GitOperationName } from "./git-operations.ts";
import { toSandboxPath } from "./sandbox-path.ts";
import { type CommandOutput, toCommandOutput } from "./command-output.ts";
import { type GitPrefix, gitPrefix } from "./git-prefix.ts";

export interface CaptureOptions {
  readonly workingDirectory?: string;
  /** Set for a command that changes files; the git files of these repositories are guarded from then on. */
  readonly writes?: { readonly git: "guarded" | "configurable"; readonly repositories: readonly string[] };
}

interface RunnerOptions {
  readonly operation: GitOperationName;
  readonly workingDirectory: string;
  readonly hasNetwork: boolean;
}

const CAPTURE_TIMEOUT_MS = 30_000;

/** Runs git for one call: the commands that prepare and verify the operation, and the operation itself. */
export class GitRunner {
  readonly prefix: GitPrefix;
  readonly workingDirectory: string;
  readonly #programs: ProgramAccess;

  constructor(programs: ProgramAccess, { operation, workingDirectory, hasNetwork }: RunnerOptions) {
    this.#programs = programs;
    this.workingDirectory = workingDirectory;
    // By then, every address of a host has been replaced by one of the gate, which speaks http.
    this.prefix = gitPrefix(operation, { protocols: hasNetwork ? ["file", "http"] : ["file"] });
  }

  /**
   * Captures the output of git. Git changes into the directory itself, so that it can report that the directory is
   * missing.
   */
  capture(
    args: readonly string[],
    { workingDirectory = this.workingDirectory, writes }: CaptureOptions = {},
  ): Promise<CommandOutput> {
    const command = [...this.prefix.argv, "-C", toSandboxPath(workingDirectory), ...args];
    return this.captureCommand(command, { workingDirectory: ".", ...(writes && { writes }) });
  }

  /** Captures the output of a command of the kernel, never of one that a caller wrote. */
  async captureCommand(
    command: readonly string[],
    { workingDirectory, writes }: CaptureOptions = {},
  ): Promise<CommandOutput> {
    const { exitCode, exceeded, stdout, stderr } = await this.#programs.run({
      command,
      workingDirectory: workingDirectory ?? this.workingDirectory,
      environment: this.prefix.environment,
      timeoutMs: CAPTURE_TIMEOUT_MS,
      maxOutputBytes: MAX_LISTING_BYTES,
      kept: [],
      isShown: false,
      hasNetwork: false,
      ...(writes ?? { access: "read" }),
    });
    if (exceeded !== undefined) throw exceededError(exceeded);
    if (exitCode === undefined) throw new KernelError("EXECUTION_FAILED", "git was killed before it was done");
    return toCommandOutput(exitCode, stdout.head, stderr.head);
  }

  /** Runs the operation itself: its output is shown and stored. */
  run(options: {
    readonly argv: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
    readonly readOnly: boolean;
    readonly git: "guarded" | "configurable";
    readonly repositories: readonly string[];
    readonly timeoutMs: number;
  }): Promise<ProgramResult> {
    const { argv, environment, readOnly, ...rest } = options;
    return this.#programs.run({
      command: [...this.prefix.argv, ...argv],
      workingDirectory: this.workingDirectory,
      environment: { ...this.prefix.environment, ...environment },
      ...rest,
      ...(readOnly && { access: "read" }),
    });
  }
}
