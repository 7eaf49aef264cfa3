import { STAGES } from "@narthex/kernel";
import { type SeededRandom, seededRandom } from "./seeded-random.ts";

/** Places of a call at which its process can be ended exactly. */
export const CALL_POINTS = [...STAGES, "done", "before-effect", "after-effect"] as const;
export type CallPoint = (typeof CALL_POINTS)[number];

/**
 * When a process under load is killed: at the n-th time that it comes to a place, or by its parent so many ms after
 * it was told to start (`start`), after it took its first call (`moment`), or after it began to close (`close`).
 * A process that never comes to its place is killed once it has nothing left to do (`idle`).
 */
export interface KillPoint {
  readonly at: CallPoint | "reconcile" | "start" | "moment" | "close";
  /** The time at that place, or the delay in ms. */
  readonly count: number;
}

export type KilledAt = KillPoint["at"] | "idle";

/** In an order in which few kills see the most. */
const PLACES: readonly [KillPoint["at"], ...KillPoint["at"][]] = [
  ...([
    "moment",
    "after-effect",
    "reconcile",
    "moment",
    "start",
    "record",
    "close",
    "grant",
    "moment",
    "done",
  ] as const),
  ...(["admit", "bind", "check", "decide", "dedupe", "endorse", "invoke", "keep", "reply", "before-effect"] as const),
];

/** The place of one kill among many: every place in turn, and how far into it by the seed. */
export function planKill(seed: number, kill: number): KillPoint {
  const random = seededRandom(seed, `kill ${kill}`);
  const at = PLACES[kill % PLACES.length] ?? PLACES[0];
  return { at, count: countFor(at, random) };
}

/** Whether a kill is for a kernel that has something to recover, so nobody may have done it before. */
export function needsRecovery({ at }: KillPoint): boolean {
  return at === "reconcile" || at === "start";
}

function countFor(at: KillPoint["at"], random: SeededRandom): number {
  switch (at) {
    case "reconcile":
      return 1;
    case "start":
      return random.below(150);
    case "moment":
      return random.below(300);
    case "close":
      return random.below(40);
    case "before-effect":
    case "after-effect":
      return 1 + random.below(40);
    default:
      return 1 + random.below(150);
  }
}
