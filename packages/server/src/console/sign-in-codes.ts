import { createSecret, findBySecret, hashSecret } from "./secret.ts";

/** One-time codes that open the console. */
export interface SignInCodes {
  create(): string;
  /** Uses up the code; false if it is unknown, was used or has expired. */
  redeem(code: string): boolean;
}

export interface SignInCodesOptions {
  readonly ttlMs: number;
  readonly maxCodes: number;
  nowMs(): number;
}

interface UnusedCode {
  readonly hash: Buffer;
  readonly expiresAtMs: number;
}

export function createSignInCodes({ ttlMs, maxCodes, nowMs }: SignInCodesOptions): SignInCodes {
  const open = new Set<UnusedCode>();

  function forgetExpired(): void {
    for (const code of open) if (nowMs() >= code.expiresAtMs) open.delete(code);
  }

  return {
    create() {
      forgetExpired();
      const [oldest] = open;
      if (open.size >= maxCodes && oldest !== undefined) open.delete(oldest);
      const code = createSecret();
      open.add({ hash: hashSecret(code), expiresAtMs: nowMs() + ttlMs });
      return code;
    },
    redeem(code) {
      forgetExpired();
      const found = findBySecret(open, code);
      return found !== undefined && open.delete(found);
    },
  };
}
