import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { type Code, type JsonObject, KernelError, type Violation } from "@narthex/contracts";
import type { PolicyFile, PolicySchema } from "@narthex/kernel";
import { threadUrl } from "../store/thread-url.ts";
import { type LoadedPolicySet, policySetBytes } from "./load-policy-set.ts";

export interface PolicyThreadData {
  readonly files: readonly PolicyFile[];
  readonly schema: JsonObject;
}

export interface PolicyThreadResult {
  readonly loaded?: Omit<LoadedPolicySet, "bytes">;
  readonly refused?: { readonly code: string; readonly message: string; readonly violations: readonly Violation[] };
}

/** As `loadPolicySet`, in a worker thread. */
export async function loadInThread(files: readonly PolicyFile[], schema: PolicySchema): Promise<LoadedPolicySet> {
  const data: PolicyThreadData = { files: files.map(({ name, text }) => ({ name, text })), schema: schema.json };
  const thread = new Worker(threadUrl("policy-thread", import.meta.url), { workerData: data, execArgv: [] });
  try {
    // Rejects with any error that the thread throws.
    const [answer] = (await once(thread, "message")) as [PolicyThreadResult];
    if (answer.loaded !== undefined) return { ...answer.loaded, bytes: policySetBytes(files) };
    const { code = "POLICY_INVALID", message = "", violations = [] } = answer.refused ?? {};
    throw new KernelError(code as Code, message, { violations });
  } finally {
    await thread.terminate();
  }
}
