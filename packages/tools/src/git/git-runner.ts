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
  /** Changes files, and is not only to read them; the repositories' git files are guarded from now on. */
  readonly writes?: { readonly git: "guarded" | "configurable"; readonly repositories: readonly string[] };
}

interface RunnerOptions {
  readonly operation: GitOperationName;
  readonly workingDirectory: string;
  readonly hasNetwork: boolean;
}

const CAPTURE_TIMEOUT_MS = 30_000;

/** Runs git for one call: what prepares and checks the operation, and the operation itself. */
export class GitRunner {
  readonly prefix: GitPrefix;
  readonly workingDirectory: string;
  readonly #programs: ProgramAccess;

  constructor(programs: ProgramAccess, { operation, workingDirectory, hasNetwork }: RunnerOptions) {
    this.#programs = programs;
    this.workingDirectory = workingDirectory;
    // Every address of a host is one of the gate by then, which is asked by http.
    this.prefix = gitPrefix(operation, { protocols: hasNetwork ? ["file", "http"] : ["file"] });
  }

  /** Goes to the directory by itself, and so can say that it is not there. */
  capture(
    args: readonly string[],
    { workingDirectory = this.workingDirectory, writes }: CaptureOptions = {},
  ): Promise<CommandOutput> {
    const command = [...this.prefix.argv, "-C", toSandboxPath(workingDirectory), ...args];
    return this.captureCommand(command, { workingDirectory: ".", ...(writes && { writes }) });
  }

  /** A command of ours; never anything that a caller wrote. */
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

  /** The operation: what it prints is shown and kept. */
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
