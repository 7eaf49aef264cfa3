import type { GetKernelResponse, JsonObject, PolicyInfo } from "@narthex/contracts";
import { isNotListening, unreachable } from "../connection/connection-error.ts";
import { findSockets } from "../connection/kernel-files.ts";
import { openProcessClient } from "../connection/process-client.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { addHomeToAdvice } from "../terminal/add-home-to-advice.ts";
import { formatCounted, formatTime } from "../terminal/units.ts";
import type { Command } from "./command.ts";

export const statusCommand: Command = {
  details: "Starts nothing. A kernel that `narthex mcp` started ends by itself once its last client has left.",
  examples: ["narthex status", "narthex status --json"],

  async run({ home, terminal }) {
    const found = await findKernel(home);
    if (terminal.json) terminal.printJson(found === undefined ? { running: false } : toJson(found));
    else if (found === undefined) {
      terminal.print(`no kernel runs on ${home}; \`narthex mcp\` starts one when it needs one`);
    } else {
      const { kernel, policy } = found;
      terminal.print(
        ...renderFacts(
          [
            ["kernel", `process ${kernel.pid}, narthex ${kernel.version}`],
            ["command", kernel.command],
            ["since", formatTime(kernel.startedAtMs)],
            ["clients", String(kernel.clients)],
            ...(policy === undefined ? [] : [["policy", describePolicy(policy, terminal)] as const]),
            ["home", home],
          ],
          terminal.columns,
        ),
      );
    }
    return EXIT_OK;
  },
};

interface FoundKernel {
  readonly kernel: GetKernelResponse;
  /** Undefined if the kernel does not report it. */
  readonly policy: PolicyInfo | undefined;
}

async function findKernel(home: string): Promise<FoundKernel | undefined> {
  const { stat } = await import("node:fs/promises");
  const { services } = await findSockets(home);
  try {
    await stat(services);
  } catch (error) {
    if (isNotListening(error)) return undefined;
    throw unreachable(services, error);
  }
  const client = await openProcessClient(home);
  try {
    const [kernel, policy] = await Promise.all([client.getKernel(), client.getPolicy()]);
    return { kernel, policy };
  } catch (error) {
    if (isNotListening(error)) return undefined;
    throw error;
  } finally {
    client.close();
  }
}

/** Describes in one line that rules are in force, or that every call is denied and what to do about it. */
function describePolicy({ problem, ruleCount, mode }: PolicyInfo, terminal: Terminal): string {
  if (problem !== "") {
    const next = "correct it, then `narthex policy reload`";
    return addHomeToAdvice(`not in force, every call is denied: ${problem}; ${next}`, terminal);
  }
  const observed = mode === "observe" ? ", observed only: refusals are recorded and not carried out" : "";
  return `in force, ${formatCounted(ruleCount, "rule")}${observed}`;
}

function toJson({ kernel, policy }: FoundKernel): JsonObject {
  const { pid, version, command, startedAtMs, onDemand, clients } = kernel;
  const own = {
    running: true,
    pid,
    version,
    command,
    started_at_ms: Number(startedAtMs),
    on_demand: onDemand,
    clients,
  };
  return { ...own, ...(policy !== undefined && { policy_problem: policy.problem }) };
}
