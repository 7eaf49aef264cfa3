/** Loads and validates a policy set off the thread that serves calls: Cedar is slow and synchronous. */
import { parentPort, workerData } from "node:worker_threads";
import { isKernelError } from "@narthex/contracts";
import { readPolicySchema } from "@narthex/kernel";
import { loadPolicySet } from "./load-policy-set.ts";
import type { PolicyThreadResult, PolicyThreadData } from "./load-in-thread.ts";

const { files, schema } = workerData as PolicyThreadData;

async function load(): Promise<PolicyThreadResult> {
  try {
    const { rules, policies, warnings } = await loadPolicySet(files, readPolicySchema(schema));
    return { loaded: { rules, policies, warnings } };
  } catch (fault) {
    if (!isKernelError(fault)) throw fault;
    return { refused: { code: fault.code, message: fault.message, violations: fault.violations } };
  }
}

parentPort?.postMessage(await load());
