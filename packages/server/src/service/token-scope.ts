export type TokenScope = "admin" | "read" | "approve";

/** Returns the scope of a token that is not a session token; undefined if this kernel does not know the token. */
export type Authorize = (token: string) => Promise<{ readonly scope: TokenScope } | undefined>;
