import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { AGENT_CLIENTS } from "../../scripts/conformance/clients/agent-clients.ts";
import { CHECKS } from "../../scripts/conformance/clients/checks/index.ts";
import type { Outcome } from "../../scripts/conformance/clients/outcome.ts";
import { HELP, parseSuiteOptions } from "../../scripts/conformance/clients/suite-options.ts";
import {
  type ClientReport,
  isProblem,
  showMarkdown,
  showTable,
} from "../../scripts/conformance/clients/suite-table.ts";
import { runCommand } from "../repository/run-command.ts";

const PROGRAM = fileURLToPath(new URL("../../scripts/conformance/clients/run-suite.ts", import.meta.url));

suite("the client suite", () => {
  test("rejects unknown clients, checks and options, and a partial table", () => {
    assert.throws(() => parseSuiteOptions(["--client", "emacs"]), /unknown client `emacs`; expected claude, codex, /);
    assert.throws(() => parseSuiteOptions(["--check", "luck"]), /unknown check `luck`; expected connect, loop, /);
    assert.throws(() => parseSuiteOptions(["--fast"]), /--fast/);
    assert.throws(() => parseSuiteOptions(["--client", "codex", "--write"]), /--write needs a run of all clients/);
  });

  test("runs all clients and checks in order unless some are named", () => {
    const all = parseSuiteOptions([]);
    assert.deepEqual([all?.clients, all?.checks], [AGENT_CLIENTS, CHECKS]);
    const some = parseSuiteOptions(["--check", "undo", "--check", "loop", "--client", "qwen", "--keep"]);
    assert.deepEqual(
      some?.checks.map(({ name }) => name),
      ["loop", "undo"],
    );
    assert.deepEqual(
      some.clients.map(({ name }) => name),
      ["qwen"],
    );
    assert.equal(some.isKept, true);
    assert.equal(parseSuiteOptions(["--help"]), undefined);
    for (const { name } of [...AGENT_CLIENTS, ...CHECKS]) assert.ok(HELP.includes(name), name);
  });

  test("shows each client's outcomes in a table, with reasons below it", () => {
    const [first, second] = AGENT_CLIENTS;
    const [connect, loop, denial] = CHECKS;
    assert.ok(first && second && connect && loop && denial);
    const outcomes = new Map<string, Outcome>([
      [connect.name, { kind: "pass" }],
      [loop.name, { kind: "fail", reason: "npm test: nothing ran" }],
      [denial.name, { kind: "unsupported", reason: "it shows no errors" }],
    ]);
    const reports: readonly ClientReport[] = [
      { client: first, result: outcomes },
      { client: second, result: { problem: "404 Not Found" } },
    ];
    assert.deepEqual(showTable(reports, [connect, loop, denial]).split("\n"), [
      "         claude         codex",
      "connect  pass           not installed",
      "loop     FAIL           not installed",
      "denial   not supported  not installed",
    ]);
    const page = showMarkdown(reports, [connect, loop]);
    assert.ok(page.includes(`| **loop**: ${loop.title} | FAIL | not installed |`), page);
    assert.ok(page.includes("- Claude Code, loop: npm test: nothing ran"), page);
    assert.ok(page.includes("- Codex: not installed: 404 Not Found"), page);
    assert.deepEqual(reports.map(isProblem), [true, true]);
    const passed = new Map<string, Outcome>([[denial.name, { kind: "unsupported", reason: "" }]]);
    assert.equal(isProblem({ client: first, result: passed }), false);
  });

  test("names a client that npm cannot install, leaves nothing of it in the cache, and fails", async () => {
    const registry = createServer((_, response) => response.writeHead(404).end("{}"));
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    const cache = await mkdtemp(join(tmpdir(), "narthex-client-cache-"));
    const env = {
      ...process.env,
      XDG_CACHE_HOME: cache,
      // No command is built for clients that are not there.
      NARTHEX_TEST_COMMAND: "none",
      npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
      npm_config_cache: join(cache, "npm"),
    };
    try {
      const { code, output } = await runCommand(process.execPath, [PROGRAM, "--client", "codex"], { env });
      assert.equal(code, 1, output);
      assert.match(output, /could not be installed: 404 Not Found/);
      assert.match(output, /^connect +not installed$/m);
      assert.deepEqual(await readdir(join(cache, "narthex/clients")), []);
    } finally {
      registry.close();
      registry.closeAllConnections();
      await rm(cache, { recursive: true });
    }
  });
});
