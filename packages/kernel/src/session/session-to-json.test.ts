import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canonicalJson, createToken, hashToken, parseJson } from "@narthex/contracts";
import type { Session } from "./session.ts";
import { sessionStateAt } from "./session-state-at.ts";
import { sessionFromJson, sessionToJson } from "./session-to-json.ts";
import { verifySessionToken } from "./verify-session-token.ts";

const TOKEN = createToken("ses_aaaaaaaaaaaaaaaaaaaa", (length) => new Uint8Array(length).fill(7));
const SESSION: Session = {
  id: "ses_aaaaaaaaaaaaaaaaaaaa",
  tenant: "acme",
  user: "ada",
  agent: "übersetzer 🤖",
  workspace: "/project",
  workingDirectory: "/project/src",
  leaseId: "lea_1",
  parentSessionId: undefined,
  seed: new Uint8Array(32).fill(1),
  tokenHash: hashToken(TOKEN),
  openedAtMs: 100,
  expiresAtMs: 200,
  state: "open",
  calls: 3,
  labels: ["untrusted"],
  level: "L0",
};

describe("a stored session", () => {
  test("is rejected if anything was lost, added or damaged", () => {
    const json = sessionToJson(SESSION);
    for (const key of Object.keys(json)) {
      const { [key]: _, ...rest } = json;
      assert.throws(() => sessionFromJson(rest), { code: "STORE_UNAVAILABLE" }, key);
      assert.throws(() => sessionFromJson({ ...json, [key]: null }), { code: "STORE_UNAVAILABLE" }, key);
    }
    assert.throws(() => sessionFromJson({ ...json, admin: true }), { code: "STORE_UNAVAILABLE" });
    assert.throws(() => sessionFromJson({ ...json, state: "OPEN" }), { code: "STORE_UNAVAILABLE" });
    assert.throws(() => sessionFromJson({ ...json, token_hash: "00" }), { code: "STORE_UNAVAILABLE" });
    assert.throws(() => sessionFromJson({ ...json, seed: "zz".repeat(32) }), { code: "STORE_UNAVAILABLE" });
    assert.throws(() => sessionFromJson({ ...json, calls: -1 }), { code: "STORE_UNAVAILABLE" });
    assert.throws(() => sessionFromJson([]), { code: "STORE_UNAVAILABLE" });
  });

  test("reads back unchanged, and never holds the token", () => {
    for (const session of [SESSION, { ...SESSION, parentSessionId: "ses_parent", state: "quarantined" as const }]) {
      const text = canonicalJson(sessionToJson(session));
      assert.deepEqual(sessionFromJson(parseJson(text)), session);
      assert.equal(text.includes(TOKEN.slice(-43)), false);
    }
  });
});

describe("a session's state", () => {
  test("expires at its end and not before", () => {
    assert.equal(sessionStateAt(SESSION, 199), "open");
    assert.equal(sessionStateAt(SESSION, 200), "expired");
    assert.equal(sessionStateAt(SESSION, Number.NaN), "expired");
  });

  test("is not changed by expiry once it is no longer open", () => {
    for (const state of ["closed", "expired", "quarantined"] as const) {
      assert.equal(sessionStateAt({ ...SESSION, state }, 0), state);
      assert.equal(sessionStateAt({ ...SESSION, state }, 1000), state);
    }
  });
});

test("accepts only the session's own token", () => {
  const other = createToken(SESSION.id, (length) => new Uint8Array(length).fill(8));
  for (const token of [
    "",
    other,
    `${TOKEN} `,
    TOKEN.toUpperCase(),
    TOKEN.slice(0, -1),
    TOKEN + "x".repeat(10_000_000),
  ]) {
    assert.equal(verifySessionToken(token, SESSION), false);
  }
  assert.equal(verifySessionToken(TOKEN, SESSION), true);
});
