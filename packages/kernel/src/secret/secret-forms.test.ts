import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { secretForms } from "./secret-forms.ts";

const isHidden = (text: string, secret: string): boolean => secretForms(secret).some((form) => text.includes(form));
const secrets = fc.string({ minLength: 8, maxLength: 60, unit: "grapheme" }).filter((text) => text.isWellFormed());

describe("the forms of a secret", () => {
  it("are found in base64 whatever surrounds them", () => {
    fc.assert(
      fc.property(secrets, fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 }), (secret, head, tail) => {
        const bytes = Buffer.from(head + secret + tail);
        assert.ok(isHidden(bytes.toString("base64"), secret));
        assert.ok(isHidden(bytes.toString("base64url"), secret));
      }),
    );
  });

  it("are found in JSON and in URLs", () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        assert.ok(isHidden(JSON.stringify({ a: secret }), secret));
        assert.ok(isHidden(`https://example.com/?a=${encodeURIComponent(secret)}`, secret));
        assert.ok(isHidden(new URLSearchParams({ a: secret }).toString(), secret));
        assert.ok(isHidden(Buffer.from(secret).toString("hex"), secret));
      }),
    );
  });

  it("are found in a multi-line key that is written on one line", () => {
    const key = "-----BEGIN KEY-----\\nMIIEvQ\\n-----END KEY-----";
    assert.ok(isHidden("-----BEGIN KEY-----\nMIIEvQ\n-----END KEY-----\n", key));
  });

  it("include no empty text, which would match everywhere", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => assert.ok(!secretForms(text.toWellFormed()).includes(""))),
    );
  });
});
