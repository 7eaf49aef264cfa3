import { claude } from "./claude.ts";
import type { Client } from "./client.ts";
import { cursor } from "./cursor.ts";
import { vscode } from "./vscode.ts";

const CLIENTS: ReadonlyMap<string, Client> = new Map([
  ["claude", claude],
  ["cursor", cursor],
  ["vscode", vscode],
]);

export function findClient(name: string): Client | undefined {
  return CLIENTS.get(name);
}
