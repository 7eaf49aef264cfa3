import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { OptionReader } from "../commands/option-reader.ts";
import { CommandError, usageError } from "../terminal/command-error.ts";

export interface TokenRequest {
  readonly options: OptionReader;
  readonly environment: NodeJS.ProcessEnv;
  readonly home: string;
}

const MAX_TOKEN_CHARACTERS = 256;
const HOW_TO_OPEN = "open a session with `narthex session open --workspace DIR`, then name it with --session ID";

/**
 * The token a command acts with: of the session named, of NARTHEX_TOKEN, or of the kernel's first session.
 *
 * SECURITY: never from an argument, which every process of the machine can read.
 */
export async function findToken(request: TokenRequest): Promise<{ readonly token: string }> {
  const named = await findNamedToken(request);
  if (named !== undefined) return { token: named };
  const first = await findFirstSession(request);
  if (first !== undefined) return { token: first };
  throw usageError("no session is named", HOW_TO_OPEN);
}

/** Only what the person named: undefined without --session and NARTHEX_TOKEN. */
export async function findNamedToken({ options, environment }: TokenRequest): Promise<string | undefined> {
  const session = options.text("session");
  if (session === undefined) {
    const token = environment["NARTHEX_TOKEN"] ?? "";
    return token === "" ? undefined : checkToken(token, "NARTHEX_TOKEN");
  }
  if (session.startsWith("@")) return readTokenFile(session.slice(1));
  if (session.startsWith("ntx_")) {
    throw usageError(
      "--session takes a session's id, not its token: arguments can be read by others",
      "put the token into NARTHEX_TOKEN, or into a file and write --session @FILE",
    );
  }
  return loadToken(session, environment);
}
