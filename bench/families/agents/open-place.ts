import { chmod, chown, mkdir } from "node:fs/promises";
import { join } from "node:path";

/** A kernel's home that is yet to be made, a workspace, and the environment of commands on them. */
export interface Place {
  readonly home: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Not root, as which no program runs. */
export const WORKSPACE_OWNER = 1000;

export async function openPlace(directory: string, name: string): Promise<Place> {
  // Programs of a kernel of root's are somebody else, who must be able to get there.
  await chmod(directory, 0o755);
  const root = join(directory, name);
  const [home, workspace] = [join(root, "home"), join(root, "workspace")];
  await mkdir(workspace, { recursive: true });
  if (process.getuid?.() === 0) await chown(workspace, WORKSPACE_OWNER, WORKSPACE_OWNER);
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, NARTHEX_DATA: home, NARTHEX_TOKEN: "" };
  return { home, workspace, env };
}
