import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { ContainedProgram } from "../sandbox/start-contained.ts";

const MAX_DYING_MS = 5000;
const DYING_POLL_MS = 5;

/** Where bubblewrap died before its program did, that is on its way out. */
export async function untilGone(started: ContainedProgram): Promise<void> {
  started.kill();
  const pid = await started.pid.catch(() => undefined);
  for (const endMs = performance.now() + MAX_DYING_MS; pid !== undefined && performance.now() < endMs; ) {
    const status = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
    // One that was not waited for yet has ended, and all in its namespace before it.
    if (!/\) [^ZX] /.test(status)) return;
    await pause(DYING_POLL_MS);
  }
}
