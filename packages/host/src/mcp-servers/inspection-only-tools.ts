import { KernelError } from "@narthex/contracts";
import type { ServerTools } from "./server-tool.ts";

/** Ports for tools that are inspected and never run. */
export const inspectionOnlyTools: ServerTools = {
  call: () => Promise.reject(new KernelError("INTERNAL", "nothing is run here")),
  verify: () => undefined,
  pathsIn: () => Promise.resolve([]),
};
