import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJsonBytes, parseJson } from "@narthex/contracts";
import { guardState } from "./guarded-draft.ts";
import { KnownSecrets } from "./known-secrets.ts";

test("a row keeps field names that equal a secret's text, and loses the text everywhere else", () => {
  const redactors = [{ secrets: ["workspace", "Tok3n-99"], replacement: "[hidden]" }];
  const secrets = new KnownSecrets(redactors, () => new Uint8Array(32));
  const value = canonicalJsonBytes({ workspace: "/a/Tok3n-99", names: { "Tok3n-99": "workspace" } });
  const [row] = guardState([{ table: "meta", key: "a/Tok3n-99", value }], secrets);
  assert.equal(row?.key, "a/[hidden]");
  assert.deepEqual(parseJson(row.value ?? new Uint8Array()), {
    workspace: "/a/[hidden]",
    names: { "[hidden]": "[hidden]" },
  });
});

test("authority rows keep words that also occur in a vault file", () => {
  const secrets = new KnownSecrets([], () => new Uint8Array(32));
  secrets.learn({ secrets: ["/home/ada/project"], replacement: "[from the vault]" });
  const value = canonicalJsonBytes({ workspace: "/home/ada/project" });
  for (const table of ["sessions", "leases", "workspaces", "meta"] as const) {
    const rows = [{ table, key: "/home/ada/project", value }];
    assert.equal(guardState(rows, secrets), rows);
  }
  const [dedupe] = guardState([{ table: "dedupe", key: "a", value }], secrets);
  assert.deepEqual(parseJson(dedupe?.value ?? new Uint8Array()), { workspace: "[from the vault]" });
});
