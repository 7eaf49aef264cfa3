import { measureTree, type TreeMeasure } from "./process-tree.ts";

/** /proc reports CPU time in hundredths of a second. */
const TICK_MS = 10;
const MAX_KNOWN = 10_000;

/**
 * CPU time of a process tree, measured by sampling.
 *
 * The result is at most the real usage, never more: it misses processes that ran between two samples and were not
 * reaped by a parent in the tree, and everything after the last sample. The larger of two sums counts: the usage of all
 * processes in one sample, including their reaped children; and the highest usage ever sampled for each process itself,
 * which covers processes whose parents do not reap them.
 */
export class TreeCpuTime {
  #most = 0;
  readonly #ownTicks = new Map<string, number>();

  get cpuMs(): number {
    let own = 0;
    for (const ticks of this.#ownTicks.values()) own += ticks;
    return Math.max(this.#most, own) * TICK_MS;
  }

  async sample(root: number): Promise<TreeMeasure> {
    let sum = 0;
    const found = await measureTree(root, {
      visit: (pid, stat) => {
        const ticks = parseTicks(stat);
        if (ticks === undefined) return;
        sum += ticks.own + ticks.collected;
        // Pids are reused: pid and start time together identify a process.
        const key = `${pid} ${ticks.startedAt}`;
        if (this.#ownTicks.size < MAX_KNOWN || this.#ownTicks.has(key)) this.#ownTicks.set(key, ticks.own);
      },
    });
    this.#most = Math.max(this.#most, sum);
    return found;
  }
}

interface Ticks {
  readonly own: number;
  /** CPU time of children that ended and were waited for. */
  readonly collected: number;
  readonly startedAt: string;
}

/**
 * SECURITY: the line contains the program's name, which may hold anything: the fields start after the last parenthesis.
 */
function parseTicks(stat: string): Ticks | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number);
  const startedAt = fields[19];
  if (user === undefined || system === undefined || startedAt === undefined) return undefined;
  return { own: user + system, collected: (childUser ?? 0) + (childSystem ?? 0), startedAt };
}
