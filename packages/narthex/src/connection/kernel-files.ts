import { readFile } from "node:fs/promises";
import { join } from "node:path";

export async function findSockets(home: string): Promise<{ framed: string; services: string }> {
  return { framed: join(home, "run", "framed.sock"), services: join(home, "run", "services.sock") };
}

export async function readAdministratorToken(home: string): Promise<string> {
  return (await readFile(join(home, "run", "admin.token"), "utf8")).trim();
}
