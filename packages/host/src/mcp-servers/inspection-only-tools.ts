import { KernelError } from "@narthex/contracts";
import type { ServerTools } from "./server-tool.ts";

/** For tools that are looked at and never run. */
export const inspectionOnlyTools: ServerTools = {
  call: () => Promise.reject(new KernelError("INTERNAL", "nothing is run here")),
  verify: () => undefined,
  pathsIn: () => Promise.resolve([]),
};
