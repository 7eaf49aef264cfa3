import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { makeDirectories } from "../system/make-directories.ts";
import { writePrivateFile } from "./private-file.ts";

/** SECURITY: ids become file names; only the text of a real one does. */
const SESSION_ID = /^ses_[a-z2-7]{20}$/;

/** The state of whoever runs commands, apart from any kernel's home. */
export function stateDirectory(environment: NodeJS.ProcessEnv, userHome = homedir()): string {
  const named = environment["XDG_STATE_HOME"];
  return join(named === undefined || named === "" ? join(userHome, ".local", "state") : named, "narthex");
}

/** Keeps a session's token for its opener's later commands. */
export async function saveSessionToken(
  sessionId: string,
  token: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const path = tokenPath(sessionId, environment);
  if (path === undefined) return;
  await makeDirectories(join(stateDirectory(environment), "sessions"), 0o700);
  await writePrivateFile(path, `${token}\n`);
}

/** Undefined if this user opened no such session. */
export async function loadSessionToken(sessionId: string, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const path = tokenPath(sessionId, environment);
  if (path === undefined) return undefined;
  try {
    return (await readFile(path, "utf8")).trim();
  } catch {
    return undefined;
  }
}

function tokenPath(sessionId: string, environment: NodeJS.ProcessEnv): string | undefined {
  if (!SESSION_ID.test(sessionId)) return undefined;
  return join(stateDirectory(environment), "sessions", `${sessionId}.token`);
}
