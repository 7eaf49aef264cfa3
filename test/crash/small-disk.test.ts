import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const TRIAL = fileURLToPath(new URL("./machines/small-disk-trial.ts", import.meta.url));
/** A mount namespace of its own: anybody's, where user namespaces are allowed, else root's. */
const NAMESPACES = [
  ["unshare", "--map-root-user", "--mount"],
  ["unshare", "--mount"],
] as const;

it("a kernel on a full, then read-only disk reports it, does nothing, and continues when there is space", (t) => {
  const namespace = NAMESPACES.find(([command, ...words]) => canMount(command, words));
  if (namespace === undefined) {
    t.diagnostic('no mount namespace can be made here: see "a disk that fails" for the same by failing system calls');
    return;
  }
  const [command, ...words] = namespace;
  const trial = spawnSync(command, [...words, process.execPath, TRIAL], { encoding: "utf8" });
  assert.equal(trial.status, 0, trial.stderr);
  t.diagnostic(trial.stdout.trim());
});

function canMount(command: string, words: readonly string[]): boolean {
  return spawnSync(command, [...words, "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;
}
