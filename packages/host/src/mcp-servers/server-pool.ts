import { type JsonObject, KernelError } from "@narthex/contracts";
import { Mutex } from "../system/mutex.ts";
import type { Listing } from "./listing.ts";
import { RestartBackoff } from "./restart-backoff.ts";
import { SERVER_LIMITS } from "./server-limits.ts";
import { type ProcessCall, ServerProcess } from "./server-process.ts";
import type { ServerPlace, ServerPorts, ServerSource } from "./server-source.ts";
import { startServer } from "./start-server.ts";

export interface ServerPoolOptions extends ServerPorts {
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  readonly idleMs?: number;
  /** Called with each list of tools before any tool is called. */
  onListed(server: string, listing: Listing): void;
}

/** One call of one tool. */
export interface ServerCall extends ServerPlace, ProcessCall {}

interface PoolEntry {
  readonly sessionId: string;
  readonly mutex: Mutex;
  process: ServerProcess | undefined;
  waiting: number;
  usedAtMs: number;
  timer: NodeJS.Timeout | undefined;
  hasEnded: boolean;
}

/**
 * Running servers. Each session has its own processes: a server cannot pass data from one session to another, so labels
 * do not have to follow it there.
 *
 * A process with write access to the workspace is ended after one call. SECURITY: every change of protected paths
 * during its life is attributed to it and restored; a change between calls could have been made by a person.
 */
export class ServerPool {
  readonly #options: ServerPoolOptions;
  readonly #nowMs: () => number;
  readonly #places = new Map<string, PoolEntry>();
  readonly #pauses = new Map<string, RestartBackoff>();

  constructor(options: ServerPoolOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /** Throws EXECUTION_FAILED with the reason if the server fails. */
  async call(source: ServerSource, call: ServerCall, signal: AbortSignal): Promise<JsonObject> {
    const place = this.#placeFor(source, call);
    place.waiting++;
    clearTimeout(place.timer);
    let leave: (() => void) | undefined;
    try {
      leave = await place.mutex.acquire(signal);
      return await this.#callAlone(place, source, call, signal);
    } finally {
      leave?.();
      place.waiting--;
      place.usedAtMs = this.#nowMs();
      if (place.waiting === 0) this.#rest(place);
    }
  }

  async endSession(sessionId: string): Promise<void> {
    const own = [...this.#places].filter(([, place]) => place.sessionId === sessionId);
    await Promise.all(own.map(([key, place]) => this.#remove(key, place, "its session has ended")));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#places].map(([key, place]) => this.#remove(key, place, "the kernel stops")));
  }

  async #callAlone(place: PoolEntry, source: ServerSource, call: ServerCall, signal: AbortSignal): Promise<JsonObject> {
    const { name } = source.settings;
    const pause = this.#pauseOf(name);
    const process = await this.#processOf(place, source, call, signal);
    try {
      const result = await process.call(call, signal);
      pause.noteSuccess();
      if (call.access === "write") await endOf(place, "it has answered");
      return result;
    } catch (fault) {
      if (!process.isAlive) pause.noteFailure();
      if (call.access === "write" || !process.isAlive) await endOf(place, "its call has failed");
      throw fault;
    }
  }

  async #processOf(
    place: PoolEntry,
    source: ServerSource,
    call: ServerCall,
    signal: AbortSignal,
  ): Promise<ServerProcess> {
    const { name } = source.settings;
    if (place.hasEnded) throw new KernelError("CANCELLED", "the session has ended");
    if (place.process?.isAlive === true) return place.process;
    await endOf(place, "it has ended").catch(() => undefined);
    const pause = this.#pauseOf(name);
    pause.verifyElapsed(name);
    try {
      const { sessionId, workspace, access, mayFork, witness } = call;
      const where = { sessionId, workspace, access, mayFork, witness };
      const started = await startServer(this.#options, source, where, signal);
      place.process = new ServerProcess(started, (listing) => this.#options.onListed(name, listing));
    } catch (fault) {
      pause.noteFailure();
      throw fault;
    }
    if (!place.hasEnded) return place.process;
    await endOf(place, "its session has ended");
    throw new KernelError("CANCELLED", "the session has ended");
  }

  #placeFor({ settings }: ServerSource, { sessionId, access, mayFork }: ServerCall): PoolEntry {
    const key = [settings.name, sessionId, access, mayFork].join("\n");
    const known = this.#places.get(key);
    if (known !== undefined) {
      if (known.waiting < SERVER_LIMITS.waiting) return known;
      throw new KernelError("RESOURCE_EXCEEDED", `${known.waiting} calls wait for this MCP server already`);
    }
    if (this.#places.size >= SERVER_LIMITS.processes) this.#makeRoom();
    const fresh: PoolEntry = {
      sessionId,
      mutex: new Mutex(),
      process: undefined,
      waiting: 0,
      usedAtMs: this.#nowMs(),
      timer: undefined,
      hasEnded: false,
    };
    this.#places.set(key, fresh);
    return fresh;
  }

  /** Ends the process that was idle for the longest time. */
  #makeRoom(): void {
    const [oldest] = [...this.#places]
      .filter(([, place]) => place.waiting === 0)
      .sort(([, one], [, other]) => one.usedAtMs - other.usedAtMs);
    if (oldest === undefined) {
      throw new KernelError("RESOURCE_EXCEEDED", `${SERVER_LIMITS.processes} MCP servers are at work already`);
    }
    void this.#remove(...oldest, "others need its place").catch(() => undefined);
  }

  #rest(place: PoolEntry): void {
    const entry = [...this.#places].find(([, known]) => known === place);
    if (entry === undefined) return;
    const end = (): void => void this.#remove(...entry, "nobody called it for a while");
    if (place.process === undefined) end();
    else place.timer = setTimeout(end, this.#options.idleMs ?? SERVER_LIMITS.idleMs).unref();
  }

  async #remove(key: string, place: PoolEntry, why: string): Promise<void> {
    if (this.#places.get(key) === place) this.#places.delete(key);
    place.hasEnded = true;
    clearTimeout(place.timer);
    await endOf(place, why).catch(() => undefined);
  }

  #pauseOf(server: string): RestartBackoff {
    const known = this.#pauses.get(server);
    if (known !== undefined) return known;
    const fresh = new RestartBackoff(this.#nowMs);
    this.#pauses.set(server, fresh);
    return fresh;
  }
}

async function endOf(place: PoolEntry, why: string): Promise<void> {
  const { process } = place;
  place.process = undefined;
  await process?.end(why);
}
