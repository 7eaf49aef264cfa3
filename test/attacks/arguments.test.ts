import assert from "node:assert/strict";
import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { createHostedHome, createTestHome, objectOf, type Serving, type TestHome, textOf } from "../cli/home.ts";

const MB = 1024 * 1024;
const RULES = ["shell_exec", "git_status", "git_log"]
  .map((name) => `@id("${name}") @approve("none") permit(principal, action == Action::"${name}", resource);\n`)
  .join("");

async function prepare(at: TestHome): Promise<TestHome> {
  if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
  await at.ask(["init"]);
  await writeFile(join(at.home, "policy/shell.cedar"), RULES, { mode: 0o600 });
  return at;
}

describe("arguments above the limits of a process", { timeout: 120_000 }, () => {
  let at: TestHome;
  let serving: Serving;
  let id: string;
  before(async () => {
    at = await prepare(await createHostedHome());
    serving = await at.serve();
    ({ id } = await at.openSession());
  });
  after(async () => {
    assert.equal(await serving.stop(), 0);
    await at.remove();
  });

  /** By standard input: no command line is that long either. */
  const call = (tool: string, input: JsonObject, code: number) =>
    at.ask(["call", tool, "-", "--session", id], code, { stdin: JSON.stringify(input) });

  const LONG: readonly (readonly [name: string, tool: string, input: JsonObject])[] = [
    ["a command of 1 MB", "shell_exec", { command: `echo ${"x".repeat(MB)}` }],
    ["a variable of 1 MB", "shell_exec", { command: "true", env: { LONG: "x".repeat(MB) } }],
    ["a directory of 1 MB", "shell_exec", { command: "true", cwd: "x".repeat(MB) }],
    ["an argument of git of 1 MB", "git", { operation: "LOG", args: ["x".repeat(MB)] }],
  ];
  for (const [name, tool, input] of LONG) {
    it(`${name} is invalid input and starts nothing`, async () => {
      assert.equal((await call(tool, input, 4))["error_code"], "INVALID_INPUT");
      const { result } = await call("shell_exec", { command: "echo on" }, 0);
      assert.equal(objectOf(objectOf(result)["stdout"])["text"], "on\n");
    });
  }

  it("many variables, each within its limit and together above the process limit, fail or work", async () => {
    const env = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`LONG_${i}`, "x".repeat(32_000)]));
    const { code, stdout, stderr } = await at.run(["call", "shell_exec", "-", "--session", id, "--json"], {
      stdin: JSON.stringify({ command: "echo on", env }),
    });
    assert.ok(code === 0 || code === 1 || code === 4, `${code} ${stdout} ${stderr}`);
    assert.doesNotMatch(stdout, /INTERNAL/);
    await call("shell_exec", { command: "true" }, 0);
  });

  it("an over-long argument built by a command fails in the command, with the shell's message", async () => {
    const command = "/bin/echo \"$(head -c 1048576 /dev/zero | tr '\\0' x)\"";
    const result = objectOf((await call("shell_exec", { command }, 0))["result"]);
    assert.equal(result["exit_code"], 126);
    assert.match(textOf(objectOf(result["stderr"])["text"]), /Argument list too long/);
  });
});

describe("the kernel's own language, time zone and locale", { timeout: 120_000 }, () => {
  it("do not change the output of programs and tools", async (context) => {
    const at = await prepare(await createTestHome());
    context.after(() => at.remove());
    await writeFile(join(at.workspace, "B"), "");
    await writeFile(join(at.workspace, "a"), "");
    await writeFile(join(at.workspace, "ä"), "");
    const { id } = await at.openSession();
    const command =
      "date -d @0 '+%c %Z'; printf '%s\\n' b A a B ä | sort; printf '%.1f\\n' 1.5; ls; cat missing; env | grep -E '^(LANG|LC_|TZ|LANGUAGE)' | sort";
    const seen = new Set<string>();
    for (const env of [{}, { LANG: "de_DE.UTF-8", LC_ALL: "de_DE.UTF-8", LANGUAGE: "de", TZ: "Asia/Tokyo" }]) {
      const options = { env };
      const shell = await at.ask(["call", "shell_exec", JSON.stringify({ command }), "--session", id], 0, options);
      const list = await at.ask(["call", "file_list", '{"path": "."}', "--session", id], 0, options);
      seen.add(JSON.stringify([shell["result"], shell["result_hash"], list["result"], list["result_hash"]]));
    }
    assert.equal(seen.size, 1, [...seen].join("\n"));
  });
});
