import type { SandboxProfile, RunningCommand, ShellCommand } from "@narthex/kernel";
import { KernelError } from "@narthex/contracts";
import type { ProgramsDriver } from "../programs/create-programs.ts";
import { Mutex } from "../system/mutex.ts";
import { SessionShell } from "./session-shell.ts";
import { SHELL_PROGRAM } from "./shell-protocol.ts";

const MAX_SHELLS = 256;

interface Place {
  readonly mutex: Mutex;
  shell: SessionShell | undefined;
  /** Identifies the settings that its sandbox was created with. */
  sandboxKey: string;
  /** Why the previous shell was lost. */
  lossReason: string | undefined;
  hasEnded: boolean;
}

/** Holds one shell for each session that runs commands. */
export class ShellPool {
  readonly #programs: ProgramsDriver;
  readonly #places = new Map<string, Place>();

  constructor(programs: ProgramsDriver) {
    this.#programs = programs;
  }

  async run(place: SandboxProfile, command: ShellCommand, signal: AbortSignal): Promise<RunningCommand> {
    const own = this.#placeOf(place.sessionId);
    const leave = await own.mutex.acquire(signal);
    try {
      if (own.hasEnded) throw new KernelError("CANCELLED", "the session has ended");
      const { shell, notes, isNew } = await this.#shellFor(own, place, signal);
      const start = command.workingDirectory ?? (isNew ? command.startDirectory : undefined);
      const running = shell.run({ ...command, workingDirectory: start }, notes, place.cpu);
      const kill = (): void => shell.kill();
      signal.addEventListener("abort", kill, { once: true });
      if (signal.aborted) kill();
      const finish = (): void => {
        signal.removeEventListener("abort", kill);
        leave();
      };
      running.ended.then(finish, finish);
      return running;
    } catch (fault) {
      leave();
      throw fault;
    }
  }

  async end(sessionId: string): Promise<void> {
    const own = this.#places.get(sessionId);
    if (own === undefined) return;
    this.#places.delete(sessionId);
    own.hasEnded = true;
    own.shell?.kill();
    await own.shell?.ended.catch(() => undefined);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#places.keys()].map((sessionId) => this.end(sessionId)));
  }

  #placeOf(sessionId: string): Place {
    const known = this.#places.get(sessionId);
    if (known !== undefined) return known;
    if (this.#places.size >= MAX_SHELLS) {
      throw new KernelError("RESOURCE_EXCEEDED", `there are ${MAX_SHELLS} session shells already: close a session`);
    }
    const fresh: Place = {
      mutex: new Mutex(),
      shell: undefined,
      sandboxKey: "",
      lossReason: undefined,
      hasEnded: false,
    };
    this.#places.set(sessionId, fresh);
    return fresh;
  }

  /** Returns the session's shell, or a new one if that has ended or its sandbox or guards are outdated. */
  async #shellFor(own: Place, place: SandboxProfile, signal: AbortSignal): Promise<ReadyShell> {
    const made = [place.workspace, place.access, place.mayFork, place.keepsProtected].join("\n");
    const known = own.shell;
    if (known?.isAlive === true) {
      if (own.sandboxKey === made && (await known.isCurrent())) return { shell: known, notes: [], isNew: false };
      own.lossReason ??=
        own.sandboxKey === made ? GUARDS_CHANGED : "the session may now change other paths than before";
      known.kill();
    }
    if (known !== undefined) {
      own.shell = undefined;
      own.lossReason ??= "the earlier one has ended";
      await known.ended.catch(() => undefined);
    }
    const notes = own.lossReason === undefined ? [] : [`a fresh shell was started, because ${own.lossReason}`];
    const shell = await this.#start(own, place, signal);
    own.sandboxKey = made;
    own.lossReason = undefined;
    return { shell, notes, isNew: true };
  }

  async #start(own: Place, place: SandboxProfile, signal: AbortSignal): Promise<SessionShell> {
    let shell: SessionShell | undefined;
    let isAsked = false;
    // The shell outlives the call that started it, so it has its own signal. The call's signal can cancel only the
    // start.
    const life = new AbortController();
    const giveUp = (): void => life.abort(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    const onAsked = (): void => {
      isAsked = true;
      own.lossReason ??= GUARDS_CHANGED;
      shell?.kill();
    };
    const program = { command: SHELL_PROGRAM, workingDirectory: ".", hasHome: true };
    // CPU limits apply to each command; a limit on the shell's processes would remain for all later commands.
    const { cpu: _, ...lastingPlace } = place;
    const lasting = { onAsked, hasChannel: true };
    try {
      shell = new SessionShell(await this.#programs.start(lastingPlace, program, life.signal, lasting));
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
    own.shell = shell;
    if (isAsked || own.hasEnded) shell.kill();
    return shell;
  }
}

interface ReadyShell {
  readonly shell: SessionShell;
  readonly notes: readonly string[];
  readonly isNew: boolean;
}

const GUARDS_CHANGED = "the protected paths of the workspace have changed";
