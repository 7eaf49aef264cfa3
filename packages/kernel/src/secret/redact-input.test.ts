import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJsonBytes, type JsonValue } from "@narthex/contracts";
import type { Redactor } from "../tool/tool.ts";
import { KnownSecrets } from "./known-secrets.ts";
import { redactInput } from "./redact-input.ts";
import { secretRedactor } from "./secret-forms.ts";

const secretsOf = (redactors: readonly Redactor[]) => new KnownSecrets(redactors, () => new Uint8Array(32));

function recorded(input: JsonValue, redactors: readonly Redactor[]): string {
  const redacted = redactInput(input, canonicalJsonBytes(input), redactors, secretsOf(redactors));
  return Buffer.from(redacted?.bytes ?? assert.fail("no secret was found")).toString();
}

test("records different inputs differently where a secret is part of its own replacement", () => {
  const redactors = [secretRedactor("db_password", "password")];
  const [first, second] = ["ls password", "rm -rf password"].map((command) => recorded({ command }, redactors));
  assert.notEqual(first, second);
  assert.doesNotMatch(`${first} ${second}`, /password|rm -rf/);
});

test("records different inputs differently where secrets overlap", () => {
  const redactors = [secretRedactor("a", "xABCDEFx"), secretRedactor("b", "DEFxGHIJ")];
  const texts = ["xABCDEFx", "xABCDEFxABCDEFx", "xABCDEFxGHIJ", "xABCDEFxxABCDEFx"];
  const forms = texts.map((text) => recorded({ text }, redactors));
  assert.equal(new Set(forms).size, texts.length);
  for (const form of forms) assert.match(form, /^\{"text":"(?:\[secret a #[0-9a-f]{8}\])+"\}$/);
});
