import { type JsonObject, KernelError } from "@narthex/contracts";
import type { EgressAccounting } from "@narthex/kernel";
import type { Listing } from "./listing.ts";
import { SERVER_LIMITS } from "./server-limits.ts";
import type { StartedServer } from "./server-source.ts";

/** One call to a server. */
export interface ProcessCall {
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly input: JsonObject;
  readonly witness?: EgressAccounting | undefined;
  /** Throws if the definition of the tool changed. */
  verify(): void;
}

/** A running server of one session. */
export class ServerProcess {
  readonly #started: StartedServer;
  readonly #onListed: (listing: Listing) => void;

  /** `onListed` is called with the current tools now, and again whenever the server reports a change. It may throw. */
  constructor(started: StartedServer, onListed: (listing: Listing) => void) {
    this.#started = started;
    this.#onListed = onListed;
    onListed(started.listing);
  }

  get isAlive(): boolean {
    return this.#started.connection.fault === undefined;
  }

  /** INVARIANT: one call at a time. `verify` runs after the list was refreshed, right before the call. */
  async call({ tool, input, witness, verify }: ProcessCall, signal: AbortSignal): Promise<JsonObject> {
    const { connection, client, processor, beginCall, attributeTo } = this.#started;
    processor?.setCheck(undefined);
    beginCall?.();
    attributeTo?.(witness);
    try {
      if (connection.listHasChanged) {
        connection.listHasChanged = false;
        this.#onListed(await client.listTools(signal));
      }
      verify();
      return await client.callTool(tool, input, signal);
    } finally {
      attributeTo?.(undefined);
      await this.#rest();
    }
  }

  /** Throws UNDECLARED_EFFECT if the server changed protected paths, which are restored then. */
  async end(why: string): Promise<void> {
    const { connection, ended } = this.#started;
    connection.end(why);
    const { putBack } = await ended;
    if (putBack.length === 0) return;
    const paths = putBack.map((path) => `\`${path}\``).join(", ");
    throw new KernelError(
      "UNDECLARED_EFFECT",
      `the MCP server changed what is protected, and it was put back: ${paths}. Everything else it did stands`,
    );
  }

  /** SECURITY: limits CPU time between calls, which no call accounts for. */
  async #rest(): Promise<void> {
    const { connection, processor } = this.#started;
    // SECURITY: if the server cannot report changes, its tools are listed again before every further call.
    if (!connection.notifiesListChanges) connection.listHasChanged = true;
    if (connection.fault !== undefined || processor === undefined) return;
    const from = await processor.read();
    const allowed = SERVER_LIMITS.idleCpuMs;
    processor.setCheck((cpuMs) =>
      cpuMs - from <= allowed ? undefined : { limit: "cpu", allowed, peak: Math.round(cpuMs - from) },
    );
  }
}
