import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

/** Where each call is safe, and why. A kernel may be root; the trees it works in may be another user's. */
const ALLOWED: Readonly<Record<string, string>> = {
  "packages/host/src/sandbox/adopt-workspace.ts": "changes the owner of files that are held open",
  "packages/host/src/programs/session-scratch.ts": "the parent can be written by the kernel only",
  "packages/host/src/toolchains/cache-directory.ts": "the parent can be written by the kernel only",
  "packages/host/src/bootstrap/make-workspace.ts": "a directory that was just made, in a sticky or private parent",
  "packages/host/src/bootstrap/reachable-program.ts": "copies into a directory that is checked to be root's alone",
  "packages/narthex/src/connect/workspace-file.ts": "changes the owner of a file that is held open",
};

const RISKY: readonly RegExp[] = [
  /\brm(?:Sync)?\([^;]*?recursive:/,
  /\bcp(?:Sync)?\([^;]*?recursive:/,
  /\b[lf]?chown(?:Sync)?\(/,
  /\breaddir(?:Sync)?\([^;]*?recursive:/,
];

test("nothing is removed, copied or handed over recursively by path, except where that is known to be safe", () => {
  const files = globSync("packages/*/src/**/*.ts").filter(
    (path) => !/\.test\.ts$|\/testing\/|^packages\/testkit\/|\/test-[a-z]+\.ts$/.test(path),
  );
  assert.ok(files.length > 500, "run from the repository's root");
  const risky = files.filter((path) => RISKY.some((pattern) => pattern.test(readFileSync(path, "utf8"))));
  assert.deepEqual(risky.toSorted(), Object.keys(ALLOWED).toSorted());
});
