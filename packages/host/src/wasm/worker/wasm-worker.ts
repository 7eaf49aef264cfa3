/**
 * Runs untrusted modules inside a sandbox. The same program is used for the main thread and for the threads it starts.
 */
import { setFlagsFromString } from "node:v8";
import { isMainThread, workerData } from "node:worker_threads";
import { HostServer } from "./host-server.ts";
import { threadLoop, type ThreadData } from "./thread-loop.ts";

if (isMainThread) {
  setFlagsFromString("--expose-gc");
  new HostServer(new URL(import.meta.url)).serve();
} else threadLoop(workerData as ThreadData);
