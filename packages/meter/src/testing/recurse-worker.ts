import { parentPort, workerData } from "node:worker_threads";
import { start, type Taken } from "./run-metered.ts";

/** Worker that runs each module until it ends, in a thread with a chosen stack size, and reports how it ended. */
const { modules, depth } = workerData as { readonly modules: readonly Taken[]; readonly depth: number };
parentPort?.postMessage(
  modules.map((module) => {
    try {
      return start(module, { fuel: 10n ** 12n, depth }).call("f");
    } catch (fault) {
      return { fault: String(fault) };
    }
  }),
);
