import { createAgentSession, type InProcessSession } from "@narthex/agent";
import type { OpenSessionOptions } from "@narthex/kernel";
import { checkKernelOptions } from "./check-kernel-options.ts";
import { type OpenedKernel, type OpenKernelOptions, openKernel } from "./open-kernel.ts";

/** A kernel in this process, with sessions to call tools through. */
export interface NarthexKernel extends OpenedKernel {
  /** Opens a session and keeps its token. */
  session(options: OpenSessionOptions): Promise<KernelSession>;
  /** A session that was opened before, perhaps by another process. Rejects with a SESSION_* code. */
  resumeSession(token: string): Promise<KernelSession>;
}

/** One agent's stay, as code in this process holds it. */
export interface KernelSession extends InProcessSession {
  readonly token: string;
  close(): Promise<void>;
}

/** Opens a home (a new one is set up first) and starts a kernel on it. */
export async function createKernel(options: OpenKernelOptions = {}): Promise<NarthexKernel> {
  checkKernelOptions(options);
  const kernel = await openKernel({ command: "an embedding program", onPolicyWarning: warnFor(options), ...options });
  await kernel.openDoors().catch(async (fault: unknown) => {
    await kernel.close({ graceMs: 0 }).catch(() => undefined);
    throw fault;
  });
  const held = (id: string, token: string): KernelSession => ({
    token,
    ...createAgentSession(kernel, { id, token }),
    close: async () => void (await kernel.closeSession(id)),
  });
  return {
    ...kernel,
    get closing() {
      return kernel.closing;
    },
    async session(open) {
      const { session, token } = await kernel.openSession(open);
      return held(session.session.id, token);
    },
    async resumeSession(token) {
      const { session } = await kernel.authenticate(token);
      return held(session.id, token);
    },
  };
}

/** Without a log a warning about rules would reach no one. */
function warnFor({ log }: OpenKernelOptions): (warning: string) => void {
  if (log !== undefined) return (warning) => log("warn", warning);
  return (warning) => process.emitWarning(warning, { type: "NarthexPolicyWarning" });
}
