import { claude } from "./claude.ts";
import type { Client } from "./client.ts";
import { codex } from "./codex.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { qwen } from "./qwen.ts";
import { vscode } from "./vscode.ts";

const CLIENTS: ReadonlyMap<string, Client> = new Map([
  ["claude", claude],
  ["codex", codex],
  ["cursor", cursor],
  ["gemini", gemini],
  ["opencode", opencode],
  ["qwen", qwen],
  ["vscode", vscode],
]);

/** For messages and usage text. */
export const CLIENT_NAMES: readonly string[] = [...CLIENTS.keys()];

export function findClient(name: string): Client | undefined {
  return CLIENTS.get(name);
}
