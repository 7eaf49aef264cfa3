import type { KernelConnection } from "./kernel-connection.ts";

/** `open`, `closed`, ...; undefined for a session that the kernel's store does not have. */
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
