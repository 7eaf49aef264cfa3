import type { KernelConnection } from "./kernel-connection.ts";

/** Returns `open`, `closed`, ...; undefined if the kernel's store does not have the session. */
export async function findSessionState(
  kernel: Pick<KernelConnection, "getSession">,
  sessionId: string,
): Promise<string | undefined> {
  try {
    return (await kernel.getSession(sessionId)).state;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SESSION_UNKNOWN") return undefined;
    throw error;
  }
}
