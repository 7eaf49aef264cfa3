import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isWritableByTools, loadSessionToken, makeWorkspace, stateDirectory } from "@narthex/host";
import { storeToken } from "../connection/session-token.ts";
import type { OpenedKernel } from "../open-kernel.ts";

export interface FirstSession {
  readonly sessionId: string;
  readonly workspace: string;
}

/**
 * Opens a session for trying out the kernel: the one of the previous run if it is still open and its workspace exists,
 * else a new one with a fresh workspace outside the home. Commands that name no session use it.
 */
export async function openFirstSession(kernel: OpenedKernel, environment: NodeJS.ProcessEnv): Promise<FirstSession> {
  const place = kernel.home.paths.firstSession;
  const known = await readFile(place, "utf8").catch(() => "");
  const kept = await findOpenSession(kernel, known.trim(), environment);
  if (kept !== undefined) return kept;
  const made = await makeWorkspace({ parent: join(stateDirectory(environment), "workspaces") });
  const opened = await kernel.openSession({ workspace: made, agent: "first" });
  const { id, workspace } = opened.session.session;
  await storeToken(id, opened.token, environment);
  await writeFile(place, `${id}\n`, { mode: 0o600 });
  return { sessionId: id, workspace };
}

async function findOpenSession(
  kernel: OpenedKernel,
  sessionId: string,
  environment: NodeJS.ProcessEnv,
): Promise<FirstSession | undefined> {
  const token = await loadSessionToken(sessionId, environment);
  if (token === undefined) return undefined;
  try {
    const { session } = await kernel.authenticate(token);
    if (!(await isWritableByTools(session.workspace))) return undefined;
    return { sessionId: session.id, workspace: session.workspace };
  } catch {
    return undefined;
  }
}
