import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { REPOSITORY } from "./places.ts";
import { startServer } from "./start-server.ts";

export interface ServedKernel {
  readonly framedSocket: string;
  /** `http://127.0.0.1:...` */
  readonly listen: string;
  readonly sessionToken: string;
  stop(): Promise<void>;
}

const PROGRAM = join(REPOSITORY, "packages", "narthex", "bin", "narthex.js");

/** `narthex serve` in a process of its own, as anybody starts it, and one session. */
export async function serveKernel(directory: string): Promise<ServedKernel> {
  const workspace = join(directory, "served-workspace");
  await mkdir(workspace);
  const env = { HOME: directory, NARTHEX_DATA: join(directory, "served-home"), XDG_STATE_HOME: "", NARTHEX_TOKEN: "" };
  const { firstLine, stop } = await startServer([PROGRAM, "serve", "--listen", "127.0.0.1:0", "--json"], env);
  const ready = JSON.parse(firstLine) as Readonly<Record<string, unknown>>;
  const opened = await promisify(execFile)(
    process.execPath,
    [PROGRAM, "session", "open", "--workspace", workspace, "--json"],
    { env: { ...process.env, ...env } },
  );
  const session = JSON.parse(opened.stdout) as Readonly<Record<string, unknown>>;
  return {
    framedSocket: String(ready["framed_socket"]),
    listen: String(ready["listen"]),
    sessionToken: String(session["token"]),
    stop,
  };
}
