import { HeldDirectory } from "./held-directory.ts";

/** Lists the entries of a workspace's root and of every directory down to this one, without following links. */
export async function listAncestorEntries(workspace: string, directory: string): Promise<string[]> {
  const parts = directory === "." ? [] : directory.split("/");
  const found: string[] = [];
  let held = await HeldDirectory.open(workspace);
  try {
    for (let depth = 0; ; depth++) {
      const parent = parts.slice(0, depth).map((part) => `${part}/`);
      found.push(...(await held.names()).map((name) => `${parent.join("")}${name}`));
      const part = parts[depth];
      const next = part === undefined ? undefined : await held.enter(part);
      if (next === undefined) return found;
      await held.close();
      held = next;
    }
  } finally {
    await held.close();
  }
}
