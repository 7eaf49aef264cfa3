import { type buildConnector, Client, type Dispatcher, Pool } from "undici";

/** Connectors for requests that read and for requests that send. */
export interface OriginConnectors {
  readonly reading: buildConnector.connector;
  readonly sending: buildConnector.connector;
}

/** All connections of one kind to one origin. */
interface OriginClient {
  /** A single connection, which is enough for most calls; a pool costs more than a request. */
  readonly first: Client;
  more: Pool | undefined;
}

const CONNECTIONS = 16;
/** Above this number, idle origins are closed. */
const KEPT_ORIGINS = 64;

/**
 * The connections of one pass, by origin.
 *
 * SECURITY: a connection opened for reading is not used for sending. An address that is not public may be granted for
 * one and not for the other, and is checked when the connection is opened.
 */
export class OriginClients {
  readonly #reading: Client.Options;
  readonly #sending: Client.Options;
  readonly #ways = new Map<string, OriginClient>();

  constructor({ reading, sending }: OriginConnectors, options: Omit<Client.Options, "connect">) {
    this.#reading = { ...options, connect: reading };
    this.#sending = { ...options, connect: sending };
  }

  dispatch(
    { origin, sends }: { readonly origin: string; readonly sends: boolean },
    message: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): void {
    this.#free(origin, sends).dispatch(message, handler);
  }

  async destroy(fault: Error): Promise<void> {
    const ways = [...this.#ways.values()];
    this.#ways.clear();
    await Promise.all(ways.map((way) => destroyClient(way, fault)));
  }

  #free(origin: string, sends: boolean): Dispatcher {
    const options = sends ? this.#sending : this.#reading;
    const key = sends ? `${origin} sends` : origin;
    const way = this.#ways.get(key) ?? this.#open(key, new Client(origin, options));
    if (way.first.stats.size === 0) return way.first;
    way.more ??= new Pool(origin, { ...options, connections: CONNECTIONS - 1 });
    return way.more;
  }

  #open(key: string, first: Client): OriginClient {
    if (this.#ways.size >= KEPT_ORIGINS) this.#endIdle();
    const way: OriginClient = { first, more: undefined };
    this.#ways.set(key, way);
    return way;
  }

  #endIdle(): void {
    for (const [key, way] of this.#ways) {
      if (way.first.stats.size > 0 || (way.more?.stats.size ?? 0) > 0) continue;
      this.#ways.delete(key);
      void destroyClient(way, new Error("this connection was idle"));
    }
  }
}

async function destroyClient({ first, more }: OriginClient, fault: Error): Promise<void> {
  await Promise.all([first.destroy(fault), more?.destroy(fault)]);
}
