import type { GetKernelResponse } from "@narthex/contracts";
import { isNotListening } from "../connection/connection-error.ts";
import { findSockets } from "../connection/kernel-files.ts";
import { openProcessClient } from "../connection/process-client.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import { formatTime } from "../terminal/units.ts";
import type { Command } from "./command.ts";

export const statusCommand: Command = {
  details: "Starts nothing. A kernel that `narthex mcp` started ends by itself once its last client has left.",
  examples: ["narthex status", "narthex status --json"],

  async run({ home, terminal }) {
    const kernel = await findKernel(home);
    if (terminal.json) terminal.printJson(kernel === undefined ? { running: false } : toJson(kernel));
    else if (kernel === undefined) {
      terminal.print(`no kernel runs on ${home}; \`narthex mcp\` starts one when it needs one`);
    } else {
      terminal.print(
        ...renderFacts([
          ["kernel", `process ${kernel.pid}, narthex ${kernel.version}`],
          ["command", kernel.command],
          ["since", formatTime(kernel.startedAtMs)],
          ["clients", String(kernel.clients)],
          ["home", home],
        ]),
      );
    }
    return EXIT_OK;
  },
};

async function findKernel(home: string): Promise<GetKernelResponse | undefined> {
  const { stat } = await import("node:fs/promises");
  const { services } = await findSockets(home);
  if ((await stat(services).catch(() => undefined)) === undefined) return undefined;
  const client = await openProcessClient(home);
  try {
    return await client.getKernel();
  } catch (error) {
    if (isNotListening(error)) return undefined;
    throw error;
  } finally {
    client.close();
  }
}

function toJson({ pid, version, command, startedAtMs, onDemand, clients }: GetKernelResponse) {
  return { running: true, pid, version, command, started_at_ms: Number(startedAtMs), on_demand: onDemand, clients };
}
