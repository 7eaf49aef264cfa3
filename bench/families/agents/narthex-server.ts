import { startServer } from "../../harness/start-server.ts";
import { type Pair, toPair } from "../calls/mcp/connect-pairs.ts";
import { connectHttp, connectStdio, type Revision } from "./connect-client.ts";
import { openPlace } from "./open-place.ts";

export interface NarthexServer {
  /** The command to run. */
  readonly program: string;
  readonly directory: string;
  readonly revision: Revision;
}

/** `narthex mcp` as a client starts it: it is the kernel of a home of its own. */
export async function narthexOverStdio({ program, directory, revision }: NarthexServer): Promise<Pair> {
  const { workspace, env } = await openPlace(directory, `stdio-${revision}`);
  return toPair(await connectStdio([program, "mcp", "--workspace", workspace], revision, env));
}

/** `narthex mcp --http`, which takes the same door as `narthex serve`. */
export async function narthexOverHttp({ program, directory, revision }: NarthexServer): Promise<Pair> {
  const { workspace, env } = await openPlace(directory, `http-${revision}`);
  const words = [program, "mcp", "--workspace", workspace, "--http", "127.0.0.1:0", "--json"];
  const { firstLine, stop } = await startServer(words, env);
  const ready = JSON.parse(firstLine) as Readonly<Record<string, unknown>>;
  const pair = toPair(await connectHttp(String(ready["url"]), String(ready["token"]), revision));
  return {
    call: (n) => pair.call(n),
    async close() {
      await pair.close();
      await stop();
    },
  };
}
