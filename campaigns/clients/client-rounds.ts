import { Chance } from "../chance/chance.ts";
import { ACTIONS, type Action } from "./actions.ts";
import { openWorld, type World } from "./world.ts";

export interface ClientRounds {
  readonly rounds: number;
  readonly seed: number;
  progress(done: number): void;
}

export interface ClientFindings {
  readonly failures: readonly string[];
  readonly actions: ReadonlyMap<string, number>;
  readonly answers: number;
}

const MAX_FAILURES = 5;

/** Each round does one thing to a client or the kernel while another client's command runs. */
export async function clientRounds({ rounds, seed, progress }: ClientRounds): Promise<ClientFindings> {
  const failures: string[] = [];
  const done = new Map<string, number>();
  let answers = 0;
  const world = await openWorld();
  try {
    for (let round = 0; round < rounds && failures.length < MAX_FAILURES; round++) {
      progress(round);
      const chance = new Chance(seed, round);
      // The first rounds take one action after the other, so that a small sample has them all.
      const action = ACTIONS[round] ?? chance.pick(ACTIONS);
      done.set(action.name, (done.get(action.name) ?? 0) + 1);
      try {
        answers += await runRound(world, action, chance);
      } catch (error) {
        failures.push(
          `seed ${seed}, round ${round}, ${action.name}: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
  } finally {
    await world.close();
  }
  return { failures, actions: done, answers };
}

async function runRound(world: World, action: Action, chance: Chance): Promise<number> {
  const witness = await world.clientFor(chance);
  const command = await world.beginCommand(witness);
  const acting = action.run(world, witness, chance);
  // What is asked while a kernel goes is answered by the next one.
  const asked = world.echoAll();
  // A kernel that is asked to go waits for the command.
  await command.release();
  const [answered] = await Promise.all([asked, acting]);
  await command.expectEnd({ mayBeLost: action.killsKernel });
  const again = await world.echoAll();
  await world.expectOneKernel();
  return answered + again + 1;
}
