import { access, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { homePaths } from "@narthex/host/home-paths";
import { loadSessionToken, saveSessionToken, stateDirectory } from "@narthex/host/session-tokens";
import type { SessionInfo } from "@narthex/contracts";
import { CommandError, usageError } from "../terminal/command-error.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface TokenRequest {
  readonly options: { text(name: string): string | undefined };
  readonly environment: NodeJS.ProcessEnv;
  readonly home: string;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
}

/** A token has at most 256 characters; the file may end with a line feed. */
const MAX_TOKEN_FILE_BYTES = 512;
const SESSION_ID = /^ses_[a-z2-7]{20}$/;
const HOW_TO_OPEN = "open one with `narthex session open --workspace DIR`, then name it with --session ID";

/**
 * Finds the token that a command uses: that of the named session, of NARTHEX_TOKEN, or of the kernel's first session.
 *
 * SECURITY: never from an argument, which every process of the machine can read.
 */
export async function findToken(request: TokenRequest): Promise<string> {
  const token = (await findNamedToken(request)) ?? (await findFirstToken(request));
  if (token === undefined) throw usageError("no session is named", HOW_TO_OPEN);
  return token;
}

/** Uses only what the user named: returns undefined without --session and NARTHEX_TOKEN. */
export async function findNamedToken(request: TokenRequest): Promise<string | undefined> {
  const { options, environment } = request;
  const session = options.text("session");
  if (session === undefined) return environment["NARTHEX_TOKEN"] || undefined;
  if (session.startsWith("@")) return readTokenFile(session.slice(1));
  if (session.startsWith("ntx_")) {
    throw usageError(
      "--session takes a session's id, not its token: other users can read arguments",
      "put the token into NARTHEX_TOKEN, or into a file and write --session @FILE",
    );
  }
  if (!SESSION_ID.test(session)) throw usageError(`\`${session.slice(0, 60)}\` is no session's id`, HOW_TO_OPEN);
  const token = await loadSessionToken(session, environment);
  if (token !== undefined) return token;
  throw await createMissingTokenError(session, request);
}

/** The token of a closed session is deleted, so the kernel is asked for the session's state. */
async function createMissingTokenError(sessionId: string, request: TokenRequest): Promise<CommandError> {
  // Does not create a missing home only to ask its kernel.
  const isHome = await access(homePaths(request.home).store).then(
    () => true,
    () => false,
  );
  const session = isHome ? await findSession(sessionId, request) : undefined;
  if (session === undefined) return new CommandError("SESSION_UNKNOWN", `there is no session \`${sessionId}\``);
  if (session.state === "closed") return new CommandError("SESSION_CLOSED", `session \`${sessionId}\` was closed`);
  if (session.state === "expired") return new CommandError("SESSION_EXPIRED", `session \`${sessionId}\` has expired`);
  return new CommandError("SESSION_UNKNOWN", `you have no token of session \`${sessionId}\``, {
    next: "name a session you opened, or give its token by --session @FILE or NARTHEX_TOKEN",
  });
}

async function findSession(sessionId: string, request: TokenRequest): Promise<SessionInfo | undefined> {
  const { withConnection } = await import("./open-connection.ts");
  const asking = withConnection(request, "session show", (kernel) => kernel.getSession(sessionId));
  return asking.catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "SESSION_UNKNOWN") return undefined;
    throw error;
  });
}

/** Stores a token where the opener's later commands find it, and returns the path. */
export async function storeToken(sessionId: string, token: string, environment: NodeJS.ProcessEnv): Promise<string> {
  await saveSessionToken(sessionId, token, environment);
  return tokenFile(sessionId, environment);
}

/** For a closed session, whose token is useless. */
export async function deleteToken(sessionId: string, environment: NodeJS.ProcessEnv): Promise<void> {
  if (SESSION_ID.test(sessionId)) await rm(tokenFile(sessionId, environment), { force: true });
}

async function findFirstToken({ home, environment }: TokenRequest): Promise<string | undefined> {
  try {
    const sessionId = (await readFile(homePaths(home).firstSession, "utf8")).trim();
    return await loadSessionToken(sessionId, environment);
  } catch {
    return undefined;
  }
}

async function readTokenFile(path: string): Promise<string> {
  const file = await open(path).catch((cause: unknown) => {
    throw usageError(`the token file \`${path}\` cannot be read`, "name a file you can read after the @", { cause });
  });
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_TOKEN_FILE_BYTES));
    const token = buffer.toString("utf8", 0, bytesRead).trim();
    if (token !== "" && !/\s/.test(token)) return token;
    throw usageError(`the file \`${path}\` does not hold a token and nothing else`);
  } finally {
    await file.close();
  }
}

function tokenFile(sessionId: string, environment: NodeJS.ProcessEnv): string {
  return join(stateDirectory(environment), "sessions", `${sessionId}.token`);
}
