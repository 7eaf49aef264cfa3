import { type JsonObject, KernelError } from "@narthex/contracts";
import type { EgressAccounting } from "@narthex/kernel";
import type { Listing } from "./listing.ts";
import { SERVER_LIMITS } from "./server-limits.ts";
import type { StartedServer } from "./server-source.ts";

/** One call, as a server is asked for it. */
export interface ProcessCall {
  /** The server's own name for the tool. */
  readonly tool: string;
  readonly input: JsonObject;
  readonly witness?: EgressAccounting | undefined;
  /** Throws if the tool is not what it was. */
  verify(): void;
}

/** One server at work for one session. */
export class ServerProcess {
  readonly #started: StartedServer;
  readonly #onListed: (listing: Listing) => void;

  /** `onListed` is told what the server lists, now and whenever it says that this has changed. It may throw. */
  constructor(started: StartedServer, onListed: (listing: Listing) => void) {
    this.#started = started;
    this.#onListed = onListed;
    onListed(started.listing);
  }

  get isAlive(): boolean {
    return this.#started.connection.fault === undefined;
  }

  /** INVARIANT: one at a time. `verify` is asked once the list is known to be current, right before the call. */
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

  /** Throws UNDECLARED_EFFECT if it changed what is protected, which is as it was then. */
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

  /** SECURITY: between calls nobody pays for what it does. */
  async #rest(): Promise<void> {
    const { connection, processor } = this.#started;
    // SECURITY: of one that cannot tell, the list is asked for before every further call.
    if (!connection.notifiesListChanges) connection.listHasChanged = true;
    if (connection.fault !== undefined || processor === undefined) return;
    const from = await processor.read();
    const allowed = SERVER_LIMITS.idleCpuMs;
    processor.setCheck((cpuMs) =>
      cpuMs - from <= allowed ? undefined : { limit: "cpu", allowed, peak: Math.round(cpuMs - from) },
    );
  }
}
