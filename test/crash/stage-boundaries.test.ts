import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { RUNS_ALL } from "../sampled.ts";
import { checkHome } from "./rounds/check-home.ts";
import { type ChildPool, createChildPool, type Heard } from "./rounds/child-pool.ts";
import { type CrashHome, createCrashHome } from "./rounds/crash-home.ts";
import { CALL_POINTS, type CallPoint } from "./rounds/kill-point.ts";
import { type LoadCall, planCall } from "./rounds/load-call.ts";
import { readEffects } from "./rounds/load-tools.ts";

const SEED = 7;

/** What is left of a call: nothing, its answer, or the question whether its effect happened. */
type Fate = "absent" | "recorded" | "unknown";

interface Kind {
  readonly name: string;
  readonly points: readonly CallPoint[];
  readonly isOne: (call: LoadCall) => boolean;
  readonly reconciles: boolean;
  readonly fateAt: (point: CallPoint) => Fate;
}

const AFTER_OUTCOME: readonly CallPoint[] = ["reply", "done"];
const BETWEEN: readonly CallPoint[] = ["invoke", "before-effect", "after-effect", "keep", "record"];
const AFTER_EFFECT: readonly CallPoint[] = ["after-effect", "keep", "record", "reply", "done"];

const BEFORE_INTENT: readonly CallPoint[] = ["admit", "bind", "check", "decide", "dedupe", "endorse", "grant"];

/** Every boundary is that of one kind of call at least, where a fault would show most; `RUNS_ALL` crosses them. */
const KINDS: readonly Kind[] = [
  {
    name: "a read-only call",
    points: RUNS_ALL ? ["check", "dedupe", "invoke", "keep", "record", "reply"] : ["check", "dedupe", "reply"],
    isOne: ({ tool }) => tool === "echo",
    reconciles: false,
    fateAt: (point) => (AFTER_OUTCOME.includes(point) ? "recorded" : "absent"),
  },
  {
    name: "a call with an effect that nobody can look up",
    points: RUNS_ALL ? CALL_POINTS : ["admit", "bind", "grant", "invoke", "after-effect", "keep", "done"],
    isOne: ({ tool, dedupeKey }) => tool === "stamp" && dedupeKey === undefined,
    reconciles: false,
    fateAt: (point) => (BETWEEN.includes(point) ? "unknown" : AFTER_OUTCOME.includes(point) ? "recorded" : "absent"),
  },
  {
    name: "a call whose tool can tell whether its effect happened",
    points: RUNS_ALL
      ? ["decide", "endorse", "grant", "invoke", "before-effect", "after-effect", "record"]
      : ["decide", "endorse", "before-effect", "record"],
    isOne: ({ tool, dedupeKey }) => tool === "note" && dedupeKey === undefined,
    reconciles: true,
    // Settled at the next start, by the tool.
    fateAt: (point) => (BEFORE_INTENT.includes(point) ? "absent" : "recorded"),
  },
];

it("a kernel is killed at every boundary of a call", () => {
  assert.deepEqual(new Set(KINDS.flatMap(({ points }) => points)), new Set(CALL_POINTS));
});

describe("a kernel killed at a stage boundary", { concurrency: 2 }, () => {
  let pool: ChildPool;
  let made: CrashHome;
  before(async () => {
    pool = await createChildPool(2);
    made = await createCrashHome();
  });
  after(async () => {
    await pool.close();
    await made.remove();
  });

  KINDS.forEach(({ name, points, isOne, reconciles, fateAt }, round) => {
    describe(name, { concurrency: 1 }, () => {
      let at: CrashHome;
      const calls = Array.from({ length: 400 }, (_, number) => planCall(SEED, round, number)).filter(isOne);
      const ids = [...new Set(calls.map(({ requestId }) => requestId))];
      before(async () => {
        at = await made.copy();
      });
      after(() => at.remove());

      const callAt = (number: number): LoadCall => {
        const call = calls.find(({ requestId }) => requestId === ids[number]);
        assert.ok(call);
        return call;
      };
      const killAt = async (point: CallPoint | "reconcile", repeats: readonly string[]): Promise<Heard> => {
        const { home, effects, sessions } = at;
        const kill = { at: point, count: 1 };
        return pool.run({ home, effects, sessions, seed: SEED, round, repeats, calls: 0, kill });
      };

      points.forEach((point, number) => {
        const fate = fateAt(point);
        it(`killed at ${point}, ${name} is ${fate} at the next start`, async () => {
          const { requestId, effect } = callAt(number);
          const heard = await killAt(point, [requestId]);
          assert.deepEqual(heard, { killedAt: point, isReady: true, issued: [requestId], answers: [] });
          at.starts++;
          at.pending.add(requestId);
          const hasHappened = (await readEffects(at.effects)).includes(effect ?? "");
          assert.equal(hasHappened, effect !== undefined && AFTER_EFFECT.includes(point));
          const found = await checkHome(at, SEED, [...at.answered.keys()]);
          assert.deepEqual(found.problems, []);
          assert.deepEqual(
            [found.absent, found.recorded, found.unknown, found.happened],
            [fate === "absent", fate === "recorded", fate === "unknown", fate === "unknown" && hasHappened].map(Number),
          );
        });
      });

      if (!reconciles) return;
      it("a kernel killed during recovery leaves the recovery to the next one", async () => {
        const { requestId } = callAt(points.length);
        assert.equal((await killAt("after-effect", [requestId])).killedAt, "after-effect");
        at.starts++;
        at.pending.add(requestId);
        for (let time = 0; time < (RUNS_ALL ? 2 : 1); time++) {
          const heard = await killAt("reconcile", []);
          assert.deepEqual(heard, { killedAt: "reconcile", isReady: false, issued: [], answers: [] });
          at.cutShort++;
        }
        const found = await checkHome(at, SEED, [...at.answered.keys()]);
        assert.deepEqual([found.problems, found.absent, found.recorded, found.unknown], [[], 0, 1, 0]);
      });
    });
  });
});
