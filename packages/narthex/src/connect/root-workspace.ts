import { stat } from "node:fs/promises";
import { CommandError } from "../terminal/command-error.ts";

/**
 * Refuses a workspace of root's for which its handing over was not agreed to: tools of a kernel of root's run as another
 * user and could write nothing there, while the client's own tools are off.
 */
export async function checkOwner(workspace: string, { adopt }: { readonly adopt: boolean }): Promise<void> {
  if (adopt || process.getuid?.() !== 0 || (await stat(workspace)).uid !== 0) return;
  throw new CommandError(
    "WORKSPACE_REFUSED",
    `\`${workspace}\` belongs to root: narthex's tools never run as root, so they could not write there`,
    {
      next:
        "say --adopt to hand the directory and its files to the user that tools run as, each time the client starts; " +
        "or chown it to a user, or connect as one",
    },
  );
}
