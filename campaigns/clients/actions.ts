import type { LineClient } from "../../test/doors/mcp/line-client.ts";
import type { Chance } from "../chance/chance.ts";
import { VERSIONS, type World } from "./world.ts";

/** What happens to a home's clients and its kernel. */
export interface Action {
  readonly name: string;
  /** Commands that run may be lost with it. */
  readonly killsKernel: boolean;
  /** The witness is a client that must not be harmed. */
  run(world: World, witness: LineClient, chance: Chance): Promise<void>;
}

/** Something is done to a client that runs a command of its own. */
function toAnother(name: string, harm: (client: LineClient) => void): Action {
  return {
    name,
    killsKernel: false,
    async run(world, _, chance) {
      const other = await world.startClient(chance.pick(VERSIONS));
      await world.beginForeverCommand(other);
      await world.end(other, harm);
    },
  };
}

export const ACTIONS: readonly Action[] = [
  toAnother("client killed", ({ child }) => void child.kill("SIGKILL")),
  {
    name: "kernel killed",
    killsKernel: true,
    run: (world) => world.killKernel(),
  },
  {
    name: "serve took over",
    killsKernel: false,
    run: (world) => world.serve(),
  },
  toAnother("client's group killed", ({ child }) => void process.kill(-(child.pid ?? 0), "SIGKILL")),
  {
    name: "serve stopped",
    killsKernel: false,
    run: (world) => world.stopServing(),
  },
  {
    name: "another version came",
    killsKernel: false,
    async run(world, _, chance) {
      await world.startClient(chance.pick(VERSIONS.filter((version) => version !== world.versionOfKernel)));
    },
  },
  toAnother("client stopped reading", (client) => {
    client.child.stdout.destroy();
    // The answer has no reader.
    client.call("echo", {}).catch(() => undefined);
  }),
  toAnother("client left", ({ child }) => void child.stdin.end()),
  {
    name: "kernel stopped",
    killsKernel: false,
    run: (world) => world.stopKernel(),
  },
  {
    name: "two clients started at once",
    killsKernel: false,
    async run(world, _, chance) {
      await Promise.all([world.startClient(chance.pick(VERSIONS)), world.startClient(chance.pick(VERSIONS))]);
    },
  },
];
