import type { OpenSessionOptions, Tool } from "@narthex/kernel";
import { checkKernelOptions } from "./check-kernel-options.ts";
import { createKernelSession, type KernelSession } from "./kernel-session.ts";
import { createKernelTools, type KernelTools } from "./kernel-tools.ts";
import { createLedgerReader, type LedgerReader } from "./ledger/ledger-reader.ts";
import type { OpenedKernel, OpenKernelOptions } from "./open-kernel.ts";

/** A kernel in this process, with sessions to call tools through. */
export interface NarthexKernel<Tools extends readonly Tool[] = readonly Tool[]> extends OpenedKernel {
  /** Opens a session and keeps its token. */
  session(options: OpenSessionOptions): Promise<KernelSession<Tools>>;
  /** Resumes a session that was opened earlier, perhaps by another process. Rejects with a SESSION_* code. */
  resumeSession(token: string): Promise<KernelSession<Tools>>;
  readonly tools: KernelTools;
  readonly ledger: LedgerReader;
}

/** Options of `createKernel`, with the tools as the compiler knows them. */
export interface CreateKernelOptions<Tools extends readonly Tool[] = readonly Tool[]> extends OpenKernelOptions {
  /** In addition to the built-in ones. */
  readonly tools?: Tools;
}

/** Opens a home (creating it if it is new) and starts a kernel on it. */
export async function createKernel<const Tools extends readonly Tool[] = readonly []>(
  options: CreateKernelOptions<Tools> = {},
): Promise<NarthexKernel<Tools>> {
  checkKernelOptions(options);
  // Loaded only now: a program that imports the library to define tools needs no kernel yet.
  const { openKernel } = await import("./open-kernel.ts");
  const kernel = await openKernel({
    command: "an embedding program",
    ...options,
    onPolicyWarning: createPolicyWarner(options),
  });
  await kernel.openDoors().catch(async (fault: unknown) => {
    await kernel.close({ graceMs: 0 }).catch(() => undefined);
    throw fault;
  });
  return embedKernel<Tools>(kernel);
}

/** Wraps a kernel for use by code in this process. */
export function embedKernel<Tools extends readonly Tool[]>(kernel: OpenedKernel): NarthexKernel<Tools> {
  return {
    ...kernel,
    get closing() {
      return kernel.closing;
    },
    tools: createKernelTools(kernel),
    ledger: createLedgerReader(kernel),
    async session(open) {
      const { session, token } = await kernel.openSession(open);
      return createKernelSession<Tools>(kernel, { id: session.session.id, token });
    },
    async resumeSession(token) {
      const { session } = await kernel.authenticate(token);
      return createKernelSession<Tools>(kernel, { id: session.id, token });
    },
  };
}

/** Without a logger, a warning about rules would reach no one. */
export function createPolicyWarner({
  log,
  onPolicyWarning,
}: Pick<OpenKernelOptions, "log" | "onPolicyWarning">): (warning: string) => void {
  if (onPolicyWarning !== undefined) return onPolicyWarning;
  if (log !== undefined) return (warning) => log("warn", warning);
  return (warning) => process.emitWarning(warning, { type: "NarthexPolicyWarning" });
}
