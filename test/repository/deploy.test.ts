import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { runCommand } from "./run-command.ts";

interface Manifest {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
}

const SYSTEMD_ANALYZE = "/usr/bin/systemd-analyze";
const read = (path: string): string => readFileSync(join(REPOSITORY, path), "utf8");

test("the container runs as an ordinary user, on a sufficient Node, and installs with an existing script", () => {
  const instructions = read("Dockerfile")
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => /^(?<name>[A-Z]+) (?<rest>.*)$/.exec(line)?.groups)
    .filter((groups) => groups !== undefined);
  const { engines, scripts } = JSON.parse(read("package.json")) as Manifest;
  const restOf = (name: string): string[] =>
    instructions.flatMap((found) => (found["name"] === name ? [found["rest"] ?? ""] : []));
  assert.deepEqual(restOf("USER"), ["node"]);
  for (const image of restOf("FROM")) assert.match(image, new RegExp(`^node:${engines.node.replace(">=", "")}-`));
  const [install = ""] = restOf("RUN");
  const script = /^npm run (?<script>\S+) -- --prefix \/opt\/narthex$/.exec(install)?.groups?.["script"] ?? "";
  assert.match(scripts[script] ?? "", /install-global/);
  const order = instructions.map(({ name }) => name);
  assert.ok(order.lastIndexOf("RUN") < order.indexOf("USER") && order.indexOf("USER") < order.indexOf("ENTRYPOINT"));
  assert.deepEqual([restOf("ENTRYPOINT"), restOf("CMD")], [['["tini", "--", "narthex"]'], ['["serve"]']]);
  assert.match(read(".dockerignore"), /^\*\*\/node_modules$/m);
});

test("the unit has no option that breaks bubblewrap, and systemd parses it without complaint", async () => {
  const unit = join(REPOSITORY, "deploy/narthex.service");
  const options = readFileSync(unit, "utf8")
    .split("\n")
    .filter((line) => /^[A-Z]\w+=/.test(line));
  assert.ok(options.includes("ExecStart=/usr/bin/env narthex serve") && options.includes("NoNewPrivileges=yes"));
  const breaking = /^(?:Private|Protect|RestrictNamespaces|SystemCallFilter|MemoryDenyWriteExecute|User=|DynamicUser)/;
  assert.deepEqual(
    options.filter((option) => breaking.test(option)),
    [],
  );
  if (!existsSync(SYSTEMD_ANALYZE)) return;
  const { code, output } = await runCommand(SYSTEMD_ANALYZE, ["verify", "--man=no", unit]);
  assert.deepEqual([code, output], [0, ""]);
});
