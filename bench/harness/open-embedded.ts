import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { createKernel, type KernelSession, type NarthexKernel } from "narthex";

export interface Embedded {
  readonly kernel: NarthexKernel;
  readonly session: KernelSession;
  /** One `echo` call; rejects unless it succeeded. */
  call(n: number): Promise<void>;
  close(): Promise<void>;
}

/** A kernel in this process as a program would have it: a home of its own on disk, the default policy, one session. */
export async function openEmbedded(directory: string, home = "home"): Promise<Embedded> {
  const kernel = await createKernel({ data: join(directory, home) });
  const session = await kernel.session({ workspace: await mkdtemp(join(directory, "workspace-")) });
  return {
    kernel,
    session,
    async call(n) {
      const { status, response } = await session.call("echo", { n, text: "hello world" });
      if (status !== "success") throw new Error(`echo answered ${status}: ${inspect(response.result.value)}`);
    },
    close: () => kernel.close(),
  };
}
