import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { checkLockFile } from "../../scripts/checks/lock-file.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

function checkPackages(context: TestContext, packages: Readonly<Record<string, unknown>>) {
  return checkLockFile(createTemporaryTree(context, { "package-lock.json": JSON.stringify({ packages }) }));
}

test("a download address is found", (context) => {
  const { passed, details } = checkPackages(context, {
    "node_modules/a": { version: "1.0.0" },
    "node_modules/b": { version: "1.0.0", resolved: "https://example.org/b.tgz" },
    "node_modules/c": { version: "1.0.0", resolved: "git+ssh://example.org/c.git" },
  });
  assert.equal(passed, false);
  assert.match(details, /node_modules\/b has a download address/);
  assert.match(details, /node_modules\/c has a download address/);
});

test("finds an optional package that is required and not locked", (context) => {
  const { passed, details } = checkPackages(context, {
    "node_modules/a": { version: "1.0.0", optionalDependencies: { "@a/darwin-arm64": "1.0.0" } },
  });
  assert.equal(passed, false);
  assert.match(details, /node_modules\/@a\/darwin-arm64/);
});

test("ignores a link to a package of the repository", (context) => {
  const { passed } = checkPackages(context, {
    "node_modules/a": { resolved: "packages/a", link: true },
    "node_modules/b": { version: "1.0.0", optionalDependencies: { c: "1.0.0" } },
    "node_modules/c": { version: "1.0.0", optional: true },
  });
  assert.equal(passed, true);
});
