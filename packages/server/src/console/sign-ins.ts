import { timingSafeEqual } from "node:crypto";
import { createSecret, findBySecret, hashSecret } from "./secret.ts";

/** The signed-in users of the console, each identified by a cookie and a key. */
export interface SignIns {
  create(approver: string): { readonly cookie: string; readonly key: string };
  /**
   * Returns the user of a request; undefined unless both cookie and key are valid.
   *
   * SECURITY: a browser sends a cookie to every port of a host, so another local server may learn it. The key is kept
   * by the page, which no other port can read, and sent in a header, which no other page can set.
   */
  find(cookie: string, key: string): SignedIn | undefined;
  /** Whether the cookie is valid; sufficient only for a page that holds no data. */
  hasCookie(cookie: string): boolean;
  end(signedIn: SignedIn): void;
}

export interface SignedIn {
  readonly approver: string;
  readonly expiresAtMs: number;
  /** Aborts when the sign-in ends. */
  readonly ended: AbortSignal;
}

export interface SignInsOptions {
  readonly ttlMs: number;
  readonly maxSignIns: number;
  nowMs(): number;
}

interface StoredSignIn extends SignedIn {
  readonly hash: Buffer;
  readonly keyHash: Buffer;
  readonly ending: AbortController;
}

export function createSignIns({ ttlMs, maxSignIns, nowMs }: SignInsOptions): SignIns {
  const kept = new Set<StoredSignIn>();

  function remove(signIn: StoredSignIn): void {
    kept.delete(signIn);
    signIn.ending.abort();
  }

  function findStored(cookie: string): StoredSignIn | undefined {
    for (const signIn of kept) if (nowMs() >= signIn.expiresAtMs) remove(signIn);
    return findBySecret(kept, cookie);
  }

  return {
    create(approver) {
      const [oldest] = kept;
      if (kept.size >= maxSignIns && oldest !== undefined) remove(oldest);
      const cookie = createSecret();
      const key = createSecret();
      const ending = new AbortController();
      const hashes = { hash: hashSecret(cookie), keyHash: hashSecret(key) };
      kept.add({ approver, expiresAtMs: nowMs() + ttlMs, ended: ending.signal, ending, ...hashes });
      return { cookie, key };
    },
    find(cookie, key) {
      const signIn = findStored(cookie);
      return signIn !== undefined && timingSafeEqual(signIn.keyHash, hashSecret(key)) ? signIn : undefined;
    },
    hasCookie: (cookie) => findStored(cookie) !== undefined,
    end(signedIn) {
      for (const signIn of kept) if (signIn === signedIn) remove(signIn);
    },
  };
}
