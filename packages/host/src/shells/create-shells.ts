import { KernelError } from "@narthex/contracts";
import type {
  JobCommand,
  SandboxProfile,
  RunningCommand,
  RunningProgram,
  SessionShells,
  ShellBackend,
  ShellCommand,
  ShellJob,
} from "@narthex/kernel";
import type { ProgramsDriver } from "../programs/create-programs.ts";
import type { Containment } from "../sandbox/open-containment.ts";
import { WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { bashCommand, bashCommandIn } from "./bash-command.ts";
import { startOnHost } from "./host-program.ts";
import { JobTable } from "./job-table.ts";
import { ShellPool } from "./shell-pool.ts";

export interface ShellsOptions {
  readonly backend: ShellBackend;
  readonly containment: () => Promise<Containment>;
  readonly programs: ProgramsDriver;
}

export interface ShellsDriver extends SessionShells {
  /** Kills all running shells and jobs. */
  close(): Promise<void>;
}

/** Creates the driver that runs shell commands with the configured backend. */
export function createShells(options: ShellsOptions): ShellsDriver {
  return new Shells(options);
}

class Shells implements ShellsDriver {
  readonly #options: ShellsOptions;
  readonly #pool: ShellPool;
  readonly #jobs = new JobTable();

  constructor(options: ShellsOptions) {
    this.#options = options;
    this.#pool = new ShellPool(options.programs);
  }

  async backend(): Promise<ShellBackend> {
    const { backend, containment } = this.#options;
    if (backend === "disabled") {
      throw new KernelError("SANDBOX_UNAVAILABLE", "`shell.backend` is `disabled` in the kernel's configuration");
    }
    if (backend === "host") return backend;
    const { level, problem } = await containment();
    if (level !== "L2") return backend;
    const why = `${problem?.problem ?? "nothing is contained here"}: ${problem?.fix ?? "run narthex doctor"}`;
    throw new KernelError("SANDBOX_UNAVAILABLE", `shell commands are disabled on this host: ${why}`);
  }

  async run(place: SandboxProfile, command: ShellCommand, signal: AbortSignal): Promise<RunningCommand> {
    const backend = await this.backend();
    if (backend !== "sandbox") await this.#options.programs.noteUnproven(place);
    // A process started in the session's shell may outlive the call and keep its network access, so a command with
    // network gets its own sandbox.
    if (backend === "session" && place.network === undefined) return await this.#pool.run(place, command, signal);
    if (backend === "host" && place.network !== undefined) {
      throw new KernelError("SANDBOX_UNAVAILABLE", "a bare command has the host's network; ask for none");
    }
    const { workingDirectory = command.startDirectory, environment } = command;
    const once = { command: command.command, workingDirectory, environment };
    const program =
      backend === "host"
        ? await this.#startBare(place, once, signal)
        : await this.#options.programs.start(
            place,
            { ...bashCommand(command.command), workingDirectory, environment, hasHome: true },
            signal,
          );
    void program.write(command.input).then(() => program.endInput());
    const ended = program.ended.then((end) => ({ ...end, notes: [] }));
    ended.catch(() => undefined);
    return { ...program, write: () => Promise.resolve(), endInput: () => undefined, ended };
  }

  /**
   * Starts a job in its own sandbox, not in the session's shell: so it can be killed with exactly its own process tree,
   * has its own limits and pipes, reports its own exit code, and survives the loss of the shell.
   */
  async spawn(place: SandboxProfile, job: JobCommand, signal: AbortSignal): Promise<ShellJob> {
    const backend = await this.backend();
    return await this.#jobs.add(place.sessionId, job.timeoutMs, signal, (life, onAsked) =>
      backend === "host" ? this.#startBare(place, job, life) : this.#startContained(place, job, life, onAsked),
    );
  }

  job(sessionId: string, jobId: string): ShellJob {
    return this.#jobs.find(sessionId, jobId);
  }

  async endSession(sessionId: string): Promise<void> {
    await Promise.all([this.#jobs.end(sessionId), this.#pool.end(sessionId)]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#jobs.close(), this.#pool.close()]);
  }

  /** Starts at the root, as the session's shell does: with the same guards, both can run at the same time. */
  #startContained(
    place: SandboxProfile,
    { command, workingDirectory, environment }: JobCommand,
    life: AbortSignal,
    onAsked: (reason: string) => void,
  ): Promise<RunningProgram> {
    const directory = workingDirectory === "." ? WORKSPACE_PATH : `${WORKSPACE_PATH}/${workingDirectory}`;
    const program = {
      ...bashCommandIn(directory, command),
      workingDirectory: ".",
      environment,
      hasHome: true,
    };
    const reason = "the protected paths of the workspace have changed";
    return this.#options.programs.start(place, program, life, { onAsked: () => onAsked(reason) });
  }

  async #startBare(
    place: SandboxProfile,
    command: Omit<JobCommand, "timeoutMs">,
    signal: AbortSignal,
  ): Promise<RunningProgram> {
    const { identity, access, reason } = await (await this.#options.containment()).identityFor(place.workspace);
    if (access === "read") throw new KernelError("SANDBOX_UNAVAILABLE", reason ?? "the workspace is read-only");
    signal.throwIfAborted();
    return startOnHost(place, command, identity, signal);
  }
}
