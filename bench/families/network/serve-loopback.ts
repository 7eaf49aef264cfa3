import { fileURLToPath } from "node:url";
import { startServer } from "../../harness/start-server.ts";
import { BIG_MB } from "./bodies.ts";

export interface LoopbackServer {
  readonly port: number;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  stop(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL("loopback-server.ts", import.meta.url));

/** The server in a process of its own: what it does is not counted among what asks it. */
export async function serveLoopback(): Promise<LoopbackServer> {
  const { firstLine, stop } = await startServer([PROGRAM, String(BIG_MB)]);
  return { port: Number(firstLine), url: `http://127.0.0.1:${firstLine}`, stop };
}
