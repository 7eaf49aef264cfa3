import assert from "node:assert/strict";
import { checkHome, type Findings } from "./check-home.ts";
import { type ChildPool, createChildPool, type Heard } from "./child-pool.ts";
import { type CrashHome, createCrashHome } from "./crash-home.ts";
import { needsRecovery, planKill } from "./kill-point.ts";
import { seededRandom } from "./seeded-random.ts";

export interface KillRoundsOptions {
  readonly kills: number;
  readonly seed: number;
  /** Homes worked on at the same time. */
  readonly lanes: number;
  readonly progress?: (done: number) => void;
}

export interface KillRoundsOutcome {
  readonly kills: number;
  readonly killsBy: ReadonlyMap<string, number>;
  readonly homes: number;
  readonly issued: number;
  readonly acknowledged: number;
  /** All looks together; effects are those of the last look at each home. */
  readonly findings: Omit<Findings, "problems">;
  /** What did not hold, with what repeats it. */
  readonly failures: readonly string[];
}

/** Kills before a home is left for a new one: what is checked each time grows with it. */
const KILLS_PER_HOME = 20;
/** So many in a row before anyone looks: recovery is cut off as well. */
const MOST_IN_A_ROW = 4;
const CALLS = 400;
/** Answers of earlier rounds asked for again at each look; at the last look all are. */
const OLD_ANSWERS = 40;
/** Answers of a kernel that is closing, and the end of its connections: the call can be made again. */
const NOT_NOW = /^error (?:STORE_UNAVAILABLE|CANCELLED|KERNEL_UNREACHABLE)$/;

/** Kills kernels under load, again and again on the same homes, and looks each few times whether all is well. */
export async function killRounds(options: KillRoundsOptions): Promise<KillRoundsOutcome> {
  const { kills, seed, lanes } = options;
  const tally = new Tally(options);
  const pool = await createChildPool(lanes);
  try {
    const homes = Array.from({ length: Math.ceil(kills / KILLS_PER_HOME) }, (_, home) => home);
    const lane = async (): Promise<void> => {
      for (let home = homes.shift(); home !== undefined; home = homes.shift()) {
        const first = home * KILLS_PER_HOME;
        await tally.home(seed, first, () =>
          killOneHome(first, Math.min(kills, first + KILLS_PER_HOME), seed, pool, tally),
        );
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  } finally {
    await pool.close();
  }
  return tally;
}

async function killOneHome(first: number, end: number, seed: number, pool: ChildPool, tally: Tally): Promise<void> {
  const at = await createCrashHome();
  try {
    for (let kill = first; kill < end; ) {
      const looksAt = kill + 1 + seededRandom(seed, `row ${kill}`).below(MOST_IN_A_ROW);
      const fresh = new Set<string>();
      for (; kill < end && (kill < looksAt || needsRecovery(planKill(seed, kill))); kill++) {
        const heard = await pool.run(ordersFor(at, seed, kill));
        note(at, heard, fresh);
        tally.killed(heard);
      }
      const old = kill === end ? [...at.answered.keys()] : pickOld(at, seed, kill);
      const found = await checkHome(at, seed, [...new Set([...fresh, ...old])]);
      tally.looked(found, kill === end);
      assert.deepEqual(found.problems, []);
    }
  } finally {
    await at.remove();
  }
}

function ordersFor(at: CrashHome, seed: number, round: number): Parameters<ChildPool["run"]>[0] {
  const { home, effects, sessions } = at;
  return { home, effects, sessions, seed, round, repeats: [...at.pending], calls: CALLS, kill: planKill(seed, round) };
}

/** Takes down what was heard: an answer, once given, is the only one. */
function note(at: CrashHome, { isReady, issued, answers }: Heard, fresh: Set<string>): void {
  if (isReady) at.starts++;
  else at.cutShort++;
  for (const requestId of issued) if (!at.answered.has(requestId)) at.pending.add(requestId);
  for (const [requestId, answer] of answers) {
    if (answer === "error OUTCOME_UNKNOWN" || NOT_NOW.test(answer)) continue;
    const known = at.answered.get(requestId);
    if (!answer.startsWith("success ")) throw new Error(`${requestId} was answered with ${answer}`);
    if (known !== undefined && known !== answer) throw new Error(`${requestId} was answered in two ways`);
    at.answered.set(requestId, answer);
    at.pending.delete(requestId);
    fresh.add(requestId);
  }
}

function pickOld(at: CrashHome, seed: number, kill: number): string[] {
  const known = [...at.answered.keys()];
  const random = seededRandom(seed, `old ${kill}`);
  return known.length === 0 ? [] : Array.from({ length: OLD_ANSWERS }, () => known[random.below(known.length)] ?? "");
}

class Tally implements KillRoundsOutcome {
  kills = 0;
  homes = 0;
  issued = 0;
  acknowledged = 0;
  readonly killsBy = new Map<string, number>();
  readonly findings = { repeated: 0, lost: 0, effects: 0, twice: 0, absent: 0, recorded: 0, unknown: 0, happened: 0 };
  readonly failures: string[] = [];
  readonly #progress: ((done: number) => void) | undefined;
  #interruption: unknown;

  constructor({ progress }: KillRoundsOptions) {
    this.#progress = progress;
  }

  async home(seed: number, first: number, run: () => Promise<void>): Promise<void> {
    this.homes++;
    try {
      await run();
    } catch (fault) {
      if (this.#interruption !== undefined) throw fault;
      const reason = fault instanceof Error ? fault.message : String(fault);
      this.failures.push(`seed ${seed}, kills from ${first} on, after ${this.kills}: ${reason}`);
    }
  }

  killed({ killedAt, issued, answers }: Heard): void {
    this.kills++;
    this.killsBy.set(killedAt, (this.killsBy.get(killedAt) ?? 0) + 1);
    this.issued += issued.length;
    this.acknowledged += answers.length;
    try {
      this.#progress?.(this.kills);
    } catch (fault) {
      this.#interruption = fault;
      throw fault;
    }
  }

  looked(found: Findings, isLast: boolean): void {
    for (const name of ["repeated", "lost", "absent", "recorded", "unknown", "happened"] as const) {
      this.findings[name] += found[name];
    }
    if (!isLast && found.twice === 0) return;
    this.findings.effects += found.effects;
    this.findings.twice += found.twice;
  }
}
