import { measureTree, type TreeMeasure } from "./process-tree.ts";

/** Linux counts in hundredths of a second for whoever reads /proc. */
const TICK_MS = 10;
const MAX_KNOWN = 10_000;

/**
 * Time on the processor of a tree of processes, from looking at it now and then.
 *
 * It is less than was used, never more: what ran between two looks and was collected by nobody is missing, and so is
 * what came after the last look. Of two sums the larger counts: what the processes of one look have used with the
 * children they collected, and the most that each process was ever seen to have used itself, which holds those whose
 * parents do not collect them.
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
        // Numbers are given again: with its start it is this very process.
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
  /** Of children that ended and that it waited for. */
  readonly collected: number;
  readonly startedAt: string;
}

/** SECURITY: the program's name stands in it, and may hold anything: what counts comes after its last bracket. */
function parseTicks(stat: string): Ticks | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number);
  const startedAt = fields[19];
  if (user === undefined || system === undefined || startedAt === undefined) return undefined;
  return { own: user + system, collected: (childUser ?? 0) + (childSystem ?? 0), startedAt };
}
