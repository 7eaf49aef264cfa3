import { KernelError } from "@narthex/contracts";
import type { Containment } from "../sandbox/open-containment.ts";
import { startWasmHost } from "./start-wasm-host.ts";
import { WasmHostProcess } from "./wasm-host-process.ts";
import type { LoadOptions } from "./worker/messages.ts";

/** Throws INVALID_DECLARATION for a module that cannot be run with these options. `name` is its name in the message. */
export type ModuleInspector = (
  bytes: Uint8Array,
  options: LoadOptions,
  name: string,
) => Promise<{ readonly declaration: Uint8Array | undefined }>;

const START_MS = 30_000;
const LOAD_MS = 30_000;

/** Provides an inspector with its own host, which ends with the work. */
export async function inspectModule<T>(
  containment: Containment,
  work: (inspect: ModuleInspector) => Promise<T>,
): Promise<T> {
  const host = new WasmHostProcess(await startWasmHost(containment));
  try {
    await host.untilReady(START_MS);
    return await work(async (bytes, options, name) => {
      const outcome = await host.load("inspected", bytes, options, LOAD_MS);
      if (outcome.taken) return { declaration: outcome.declaration };
      const message = `\`${name}\` is rejected (${outcome.reason}): ${outcome.message}`;
      throw new KernelError("INVALID_DECLARATION", message, {
        violations: [{ field: name, rule: outcome.reason, message: outcome.message }],
      });
    });
  } finally {
    host.fail(new KernelError("CANCELLED", "it was looked at"));
    await host.ended;
  }
}
