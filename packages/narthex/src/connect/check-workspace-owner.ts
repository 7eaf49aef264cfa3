import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { OpenSessionInput } from "../connection/kernel-connection.ts";
import { CommandError } from "../terminal/command-error.ts";

/**
 * Refuses a workspace owned by root unless its handover was accepted: a kernel of root's runs tools as another user,
 * who could write nothing there, while the client's own tools are off.
 */
export async function checkWorkspaceOwner(workspace: string, { adopt }: { readonly adopt: boolean }): Promise<void> {
  if (adopt || process.getuid?.() !== 0 || (await stat(workspace)).uid !== 0) return;
  throw new CommandError(
    "WORKSPACE_REFUSED",
    `\`${workspace}\` belongs to root: narthex's tools never run as root, so they could not write there`,
    {
      next:
        "say --adopt to hand the directory and its files to the user that tools run as, each time the client starts; " +
        "or chown it to a user, or run this command as one",
    },
  );
}

/** Runs the same check for a session, unless its lease only permits reading. */
export async function checkWritable(session: Pick<OpenSessionInput, "workspace" | "adopt" | "lease">): Promise<void> {
  if (session.lease === undefined && existsSync(session.workspace))
    await checkWorkspaceOwner(session.workspace, session);
}
