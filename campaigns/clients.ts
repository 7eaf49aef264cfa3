import type { Campaign } from "./campaign.ts";
import { clientRounds } from "./clients/client-rounds.ts";

export const clients: Campaign = {
  name: "clients",
  title:
    "start, leave, kill and replace clients and kernels of one home at random; every client is answered, no other client's command dies, one kernel holds the home",
  unit: "rounds",
  sample: 7,
  full: 200,
  async run({ count, seed, progress }) {
    const { failures, actions, answers } = await clientRounds({ rounds: count, seed, progress });
    return {
      done: count,
      failures,
      facts: [...[...actions].map(([action, times]) => [action, times] as const), ["answers", answers]],
    };
  },
};
