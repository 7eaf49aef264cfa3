import { Client, type Dispatcher, Pool } from "undici";

/** All connections to one origin. */
interface Way {
  /** All that most calls need; a pool costs more than a request. */
  readonly first: Client;
  more: Pool | undefined;
}

const CONNECTIONS = 16;
/** Of more, those are ended that have nothing to do. */
const KEPT_ORIGINS = 64;

/** The connections of one pass, by origin. */
export class LineClients {
  readonly #options: Client.Options;
  readonly #ways = new Map<string, Way>();

  constructor(options: Client.Options) {
    this.#options = options;
  }

  dispatch(origin: string, message: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#free(origin).dispatch(message, handler);
  }

  async destroy(fault: Error): Promise<void> {
    const ways = [...this.#ways.values()];
    this.#ways.clear();
    await Promise.all(ways.map((way) => destroyWay(way, fault)));
  }

  #free(origin: string): Dispatcher {
    const way = this.#ways.get(origin) ?? this.#open(origin);
    if (way.first.stats.size === 0) return way.first;
    way.more ??= new Pool(origin, { ...this.#options, connections: CONNECTIONS - 1 });
    return way.more;
  }

  #open(origin: string): Way {
    if (this.#ways.size >= KEPT_ORIGINS) this.#endIdle();
    const way: Way = { first: new Client(origin, this.#options), more: undefined };
    this.#ways.set(origin, way);
    return way;
  }

  #endIdle(): void {
    for (const [origin, way] of this.#ways) {
      if (way.first.stats.size > 0 || (way.more?.stats.size ?? 0) > 0) continue;
      this.#ways.delete(origin);
      void destroyWay(way, new Error("this connection was idle"));
    }
  }
}

async function destroyWay({ first, more }: Way, fault: Error): Promise<void> {
  await Promise.all([first.destroy(fault), more?.destroy(fault)]);
}
