import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { makeDirectories } from "../system/make-directories.ts";
import { writePrivateFile } from "./private-file.ts";

/** SECURITY: ids become file names, so only valid ids are accepted. */
const SESSION_ID = /^ses_[a-z2-7]{20}$/;

/** Directory for the state of the user who runs commands, separate from the home of any kernel. */
export function stateDirectory(environment: NodeJS.ProcessEnv, userHome = homedir()): string {
  const named = environment["XDG_STATE_HOME"];
  return join(named === undefined || named === "" ? join(userHome, ".local", "state") : named, "narthex");
}

/** Stores the token of a session for later commands of the user who opened it. */
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

/** Loads the token of a session; undefined if this user did not open it. */
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
