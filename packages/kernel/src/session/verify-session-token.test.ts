import assert from "node:assert/strict";
import { test } from "node:test";
import { hashToken } from "@narthex/contracts";
import type { Session } from "./session.ts";
import { verifySessionToken } from "./verify-session-token.ts";

const TOKEN = "token-of-a-session";

/** A session whose stored hash counts how many of its bytes were looked at. */
function watched(tokenHash: Uint8Array): { readonly session: Session; readonly looked: () => number } {
  let looked = 0;
  const hash = new Proxy(tokenHash, {
    get(target, name) {
      if (typeof name === "string" && /^\d+$/.test(name)) looked++;
      const value: unknown = Reflect.get(target, name, target);
      return value;
    },
  });
  return { session: { tokenHash: hash } as Session, looked: () => looked };
}

test("compares every byte of a token, so that timing reveals nothing of the stored hash", () => {
  const right = watched(hashToken(TOKEN));
  assert.equal(verifySessionToken(TOKEN, right.session), true);
  assert.equal(right.looked(), 32);
  for (const place of [0, 1, 15, 31]) {
    const hash = hashToken(TOKEN).slice();
    hash[place] = (hash[place] ?? 0) ^ 1;
    const wrong = watched(hash);
    assert.equal(verifySessionToken(TOKEN, wrong.session), false);
    assert.equal(wrong.looked(), 32, `a difference in byte ${place}`);
  }
});
