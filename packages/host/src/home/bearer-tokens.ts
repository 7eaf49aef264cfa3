import { randomBytes } from "node:crypto";
import { equalBytes, hashToken } from "@narthex/contracts";
import type { HomePaths } from "./home-paths.ts";
import { writePrivateFile } from "./private-file.ts";

export type TokenScope = "admin" | "approve" | "read";

/** The tokens of one run of a kernel: created at every start, kept in memory only as hashes. */
export interface BearerTokens {
  /** SECURITY: compares with every known hash, each in constant time. */
  authorize(token: string): { readonly scope: TokenScope } | undefined;
}

const MAX_TOKEN_CHARACTERS = 256;

/** Creates the tokens of this run and writes them to files that only the owner of the home can read. */
export async function issueBearerTokens(paths: HomePaths): Promise<BearerTokens> {
  const issued: { readonly scope: TokenScope; readonly hash: Uint8Array }[] = [];
  for (const [scope, path] of [
    ["admin", paths.adminToken],
    ["approve", paths.approveToken],
    ["read", paths.readToken],
  ] as const) {
    const token = `ntxb_${scope}_${randomBytes(32).toString("base64url")}`;
    await writePrivateFile(path, `${token}\n`);
    issued.push({ scope, hash: hashToken(token) });
  }
  return {
    authorize(token) {
      if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
      const hash = hashToken(token);
      let found: TokenScope | undefined;
      for (const known of issued) if (equalBytes(known.hash, hash)) found = known.scope;
      return found === undefined ? undefined : { scope: found };
    },
  };
}
