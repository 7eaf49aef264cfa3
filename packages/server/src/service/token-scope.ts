export type TokenScope = "admin" | "read" | "approve";

/** What a token that is not a session's may do; undefined if it is no token of this kernel. */
export type Authorize = (token: string) => Promise<{ readonly scope: TokenScope } | undefined>;
