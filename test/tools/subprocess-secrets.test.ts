import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { answerOf, createProgramHome, failureOf, type ProgramHome } from "./program-home.ts";

/** With everything in it that some way of writing it down changes. */
const FROM_VARIABLE = 'v4r!able "quoted" \\back/slash é+1&=%';
const FROM_FILE = "file-secret-0123456789";
const FROM_COMMAND = "command-secret-abcdefgh";
const VARIABLE = "NARTHEX_TEST_SECRET";

describe("a secret given to a program", { timeout: 300_000 }, () => {
  let at: ProgramHome;
  before(async () => {
    at = await createProgramHome();
    process.env[VARIABLE] = FROM_VARIABLE;
    await writeFile(join(at.root, "secret-file"), `${FROM_FILE}\n`, { mode: 0o600 });
    await writeFile(join(at.root, "short-file"), "short\n", { mode: 0o600 });
    const command = `[sh, "-c", "printf command-secret-; echo abcdefgh"]`;
    await at.configure(
      `secrets:\n  by_variable: { env: ${VARIABLE} }\n  by_file: { file: ${at.root}/secret-file }\n` +
        `  by_command:\n    command: ${command}\n  unset: { env: NARTHEX_TEST_UNSET }\n` +
        `  short: { file: ${at.root}/short-file }\n  failing: { command: [sh, "-c", "echo leaked-value >&2; exit 1"] }\n`,
    );
    const secrets = { ONE: "by_variable", TWO: "by_file", THREE: "by_command" };
    await at.addPython(
      "lengths",
      `import json, os\nprint(json.dumps([len(os.environ[n]) for n in ("ONE", "TWO", "THREE")]))`,
      {
        secrets,
      },
    );
    await at.addPython("tells", TELLS, { secrets });
    await at.addPython("in_parts", IN_PARTS, { secrets });
    await at.addPython(
      "fails_aloud",
      `import os, sys\nsys.stderr.write("the key is " + os.environ["ONE"])\nsys.exit(os.environ["TWO"])`,
      {
        secrets,
      },
    );
    await at.addPython("waits", WAITS, { secrets, effects: ["fs_read"] });
    await at.addPython("without", `import json, os\nprint(json.dumps(sorted(os.environ)))`);
    for (const name of ["unset", "short", "failing", "unknown"]) {
      await at.addPython(`wants_${name}`, "print(1)", { secrets: { KEY: name } });
    }
    await at.start();
  });
  after(async () => {
    delete process.env[VARIABLE];
    await at.remove();
  });

  it("comes from a variable, a file or a command, and is complete", async () => {
    assert.deepEqual(
      answerOf(await at.call("lengths")),
      [FROM_VARIABLE, FROM_FILE, FROM_COMMAND].map((text) => text.length),
    );
  });

  it("is redacted in its output: plain, in JSON, URLs, hex and base64 at any offset", async () => {
    const told = answerOf(await at.call("tells")) as Record<string, string>;
    assertHidden(JSON.stringify(told));
    assert.equal(told["plain"], "[secret by_variable]");
    assert.equal(told["inside"], "Bearer [secret by_variable] and more");
    assert.equal(told["key"], "[secret by_file][secret by_command]");
    const forms = Object.keys(told).filter((key) => /^[a-z]+[0-2]?$/.test(key));
    assert.equal(forms.length, 12);
    for (const form of forms) assert.match(told[form] ?? "", /\[secret by_/, form);
    assert.ok(Object.hasOwn(told, "[secret by_file]"), "in keys too");
  });

  it("is redacted when split into pieces", async () => {
    assert.deepEqual(answerOf(await at.call("in_parts")), { said: "[secret by_file]" });
  });

  it("is redacted in errors", async () => {
    const { code, message } = failureOf(await at.call("fails_aloud"));
    assert.equal(code, "EXECUTION_FAILED");
    assertHidden(message);
    assert.match(message, /the key is \[secret by_variable\]/);
  });

  it("is in no process's arguments while it runs", async () => {
    const running = at.call("waits");
    let seen: string[] = [];
    while (!seen.some((line) => line.includes("/opt/tool/tool.py"))) {
      seen = await commandLines();
      await setTimeout(5);
    }
    await writeFile(join(at.workspace, "go"), "");
    for (const line of seen) assertHidden(line);
    assert.equal(answerOf(await running), "went");
  });

  it("is passed only to tools that were added with it", async () => {
    const names = answerOf(await at.call("without")) as string[];
    assert.ok(names.includes("PATH"));
    for (const name of ["ONE", "TWO", "THREE", VARIABLE]) assert.ok(!names.includes(name), name);
  });

  it("that is missing, too short, or not configured keeps its tool from running", async () => {
    const expected: [string, RegExp][] = [
      ["wants_unset", /`NARTHEX_TEST_UNSET` is not set/],
      ["wants_short", /fewer than 8 characters/],
      ["wants_failing", /its command failed/],
      ["wants_unknown", /narthex.yaml does not name it/],
    ];
    for (const [tool, reason] of expected) {
      const { code, message } = failureOf(await at.call(tool));
      assert.equal(code, "EXECUTION_FAILED");
      assert.match(message, reason);
      assert.doesNotMatch(message, /leaked-value|"short/);
    }
  });

  it("is nowhere in the kernel's home afterwards", async () => {
    await at.stop();
    let looked = 0;
    for (const entry of await readdir(at.home, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      looked++;
      assertHidden((await readFile(join(entry.parentPath, entry.name))).toString("latin1"), entry.name);
    }
    assert.ok(looked > 5);
  });
});

function assertHidden(text: string, where = text): void {
  for (const secret of [FROM_VARIABLE, FROM_FILE, FROM_COMMAND]) {
    const bytes = Buffer.from(secret);
    const forms = [secret, bytes.toString("latin1"), JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
    const encoded = [
      bytes.toString("hex"),
      bytes.toString("base64").slice(0, -4),
      bytes.toString("base64url").slice(0, -4),
    ];
    for (const form of [...forms, ...encoded]) assert.ok(!text.includes(form), `${form} in ${where}`);
  }
}

async function commandLines(): Promise<string[]> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return await Promise.all(processes.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
}

const TELLS = `
import base64, json, os, urllib.parse
secret = os.environ["ONE"]
raw = secret.encode()
print(json.dumps({
    "plain": secret,
    "inside": "Bearer " + secret + " and more",
    "key": os.environ["TWO"] + os.environ["THREE"],
    os.environ["TWO"]: 1,
    "json": json.dumps({"inner": secret}, ensure_ascii=False),
    "ascii": json.dumps({"inner": secret}),
    "url": "https://example.com/?key=" + urllib.parse.quote(secret, safe=""),
    "form": urllib.parse.urlencode({"key": secret}),
    "hex": raw.hex(),
    "base0": base64.b64encode(raw).decode(),
    "base1": base64.b64encode(b"u" + raw + b"more").decode(),
    "base2": base64.b64encode(b"u:" + raw).decode(),
    "urlsafe": base64.urlsafe_b64encode(b"user:" + raw).decode(),
}, ensure_ascii=False))
`;

const IN_PARTS = `
import os, sys
text = '{"said":"' + os.environ["TWO"] + '"}'
for character in text:
    sys.stdout.write(character)
    sys.stdout.flush()
`;

const WAITS = `
import os, time
while not os.path.exists("go"): time.sleep(0.01)
print('"went"')
`;
