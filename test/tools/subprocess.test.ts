import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { toHex } from "@narthex/contracts";
import { listStoredTools } from "@narthex/host";
import { answerOf, createProgramHome, failureOf, type ProgramHome } from "./program-home.ts";

const ECHO = `
import json, sys
json.dump({"got": json.load(sys.stdin), "arguments": sys.argv[1:]}, sys.stdout)
`;

describe("a subprocess tool", { timeout: 300_000 }, () => {
  let at: ProgramHome;
  before(async () => {
    at = await createProgramHome();
    await at.addPython("repeat_back", ECHO, { command: ["python3", "./tool.py", "--fixed", ""] });
    await at.addPython(
      "fails",
      `import sys\nprint("half an answer")\nprint("why it\\nfailed\\x1b[2J", file=sys.stderr)\nsys.exit(3)`,
    );
    await at.addPython("killed", `import os\nos.kill(os.getpid(), 11)`);
    await at.addPython("no_json", `print("hello")`);
    await at.addPython("two_values", `print('{"a":1}'); print('{"a":1}')`);
    await at.addPython("double_key", `print('{"a":1,"a":2}')`);
    await at.addPython("says_nothing", `pass`);
    await at.addPython("closes_early", `import os, sys\nos.close(1)\nsys.stderr.write("closed")`);
    await at.addPython("ignores_input", `print(1)`);
    await at.addPython("floods", `import sys\nfor _ in range(300): sys.stdout.write("x" * 1048576)`);
    await at.addPython("floods_errors", `import sys\nfor _ in range(300): sys.stderr.write("x" * 1048576)\nprint(1)`);
    await at.addPython("sleeps", `import time\ntime.sleep(600)`, { bounds: { timeout_ms: 500 } });
    await at.addPython("hungry", `x = bytearray(900 * 1048576)\nprint(len(x))`, {
      bounds: { max_memory_bytes: 134_217_728 },
    });
    await at.addPython("promises", `print('{"count": "three"}')`, {
      output_schema: { type: "object", properties: { count: { type: "integer" } } },
    });
    await at.addPython("labelled", `print(1)`, { labels: ["untrusted", "clipboard"] });
    await at.addPython("large", `import json\nprint(json.dumps(["y" * 1000] * 5000))`);
    await at.addPython(
      "seeded",
      `import json, os\nprint(json.dumps([os.environ["NARTHEX_SEED"], os.environ["NARTHEX_NOW_MS"]]))`,
      {
        determinism: "deterministic",
        tier: "read_only",
      },
    );
    await at.start();
  });
  after(() => at.remove());

  it("gets its input as JSON on stdin, with its fixed arguments, and returns JSON on stdout", async () => {
    const input = { text: 'é\u0000"', list: [1, 2.5, null] };
    assert.deepEqual(answerOf(await at.call("repeat_back", input)), { got: input, arguments: ["--fixed", ""] });
  });

  it("fails with the end of its error output, on one line, if its exit code is not 0", async () => {
    const { code, message } = failureOf(await at.call("fails"));
    assert.equal(code, "EXECUTION_FAILED");
    assert.match(message, /exit code 3; it said: why it failed \[2J/);
    assert.match(failureOf(await at.call("killed")).message, /ended by signal 11/);
  });

  it("must print exactly one JSON value", async () => {
    for (const tool of ["no_json", "two_values", "double_key", "says_nothing", "closes_early"]) {
      assert.equal(failureOf(await at.call(tool)).code, "INVALID_OUTPUT", tool);
    }
    assert.match(failureOf(await at.call("closes_early")).message, /it said: closed/);
  });

  it("must return output that fits its schema", async () => {
    assert.equal(failureOf(await at.call("promises")).code, "INVALID_OUTPUT");
  });

  it("need not read its input, however large", async () => {
    assert.equal(answerOf(await at.call("ignores_input", { text: "z".repeat(20_000_000) })), 1);
  });

  it("is killed at its limits of output, memory and time", async () => {
    for (const tool of ["floods", "floods_errors"]) {
      const { code, message } = failureOf(await at.call(tool));
      assert.equal(code, "RESOURCE_EXCEEDED", message);
      assert.match(message, /output: at most 16 MB/);
    }
    assert.match(failureOf(await at.call("hungry")).code, /^(?:RESOURCE_EXCEEDED|EXECUTION_FAILED)$/);
    assert.equal(failureOf(await at.call("sleeps")).code, "TIMEOUT");
  });

  it("labels its results and the sessions that receive them, if its manifest says so", async () => {
    const session = await at.kernel.session({ workspace: at.workspace });
    assert.deepEqual((await session.call("ignores_input", {})).metadata.labels, []);
    assert.deepEqual((await session.call("labelled", {})).metadata.labels, ["clipboard", "untrusted"]);
    assert.deepEqual((await session.call("ignores_input", {})).metadata.labels, ["clipboard", "untrusted"]);
  });

  it("may return more than travels inline", async () => {
    const { response, raw } = await at.call("large");
    assert.equal(response.result.case, "success");
    assert.equal((raw as string[]).length, 5000);
  });

  it("gets the call's own random stream and time if it declares itself deterministic", async () => {
    const [seed, now] = answerOf(await at.call("seeded")) as [string, string];
    assert.match(seed, /^[0-9a-f]{64}$/);
    assert.match(now, /^\d+$/);
    const [other] = answerOf(await at.call("seeded", { again: true })) as [string, string];
    assert.notEqual(other, seed);
  });

  it("is registered as declared, with its program in its definition", () => {
    const registered = at.kernel
      .listTools({ allVersions: false })
      .find(({ declaration }) => declaration.name === "repeat_back");
    assert.equal(registered?.declaration.source, "subprocess");
    assert.equal(registered?.declaration.isolation, "process");
    assert.match(registered?.declaration.program?.hash ?? "", /^[0-9a-f]{64}$/);
  });
});

describe("a program's bytes", { timeout: 300_000 }, () => {
  let at: ProgramHome;
  before(async () => {
    at = await createProgramHome();
  });
  after(() => at.remove());

  const definition = async (name: string): Promise<string> => {
    await at.start();
    const found = at.kernel.listTools({ allVersions: false }).find(({ declaration }) => declaration.name === name);
    await at.stop();
    return toHex(found?.definitionHash ?? new Uint8Array());
  };

  it("are part of the definition's hash, with its command and every further file", async () => {
    const manifest = (command: string[]) =>
      JSON.stringify({
        name: "pinned",
        version: "1.0.0",
        description: "Runs.",
        command,
        files: ["data/words.txt"],
        input_schema: true,
        effects: [],
        determinism: "pure",
        tier: "read_only",
      });
    const files = { "tool.json": manifest(["python3", "./tool.py"]), "tool.py": "print(1)", "data/words.txt": "a" };
    const variants = [
      files,
      { ...files, "tool.py": "print(2)" },
      { ...files, "data/words.txt": "b" },
      { ...files, "tool.json": manifest(["python3", "./tool.py", "x"]) },
    ];
    const hashes: string[] = [];
    for (const variant of variants) {
      await at.add(join(await at.write(variant), "tool.json"));
      hashes.push(await definition("pinned"));
    }
    assert.equal(new Set(hashes).size, variants.length);
    await at.add(join(await at.write(files), "tool.json"));
    assert.equal(await definition("pinned"), hashes[0], "the same bytes from elsewhere are the same tool");
  });

  it("are hashed again before each run: a replaced program does not run", async () => {
    await at.addPython("swapped", `print('"the right one"')`);
    const place = join(at.home, "tools", "swapped@1.0.0", "files");
    const [name = ""] = await readdir(place);
    await at.start();
    assert.equal(answerOf(await at.call("swapped")), "the right one");
    const original = await readFile(join(place, name));
    for (const other of [`print('"the wrong one"')`, `print('"the right 0ne"')`, ""]) {
      await writeFile(join(place, name), other);
      const { code, message } = failureOf(await at.call("swapped", { other }));
      assert.equal(code, "TOOL_QUARANTINED");
      assert.match(message, /add the tool again with --replace/);
    }
    await writeFile(join(place, name), original);
    assert.equal(answerOf(await at.call("swapped", { again: true })), "the right one");
    await at.stop();
  });

  it("come from the home: changes to the author's file have no effect", async () => {
    const directory = await at.write({
      "tool.sh": `#!/bin/sh\necho '"first"'\n`,
      "tool.yaml":
        "name: copied\nversion: 1.0.0\ndescription: Runs.\ncommand: [./tool.sh]\ninput_schema: true\neffects: []\n" +
        "determinism: pure\ntier: read_only\n",
    });
    await at.add(join(directory, "tool.yaml"));
    await writeFile(join(directory, "tool.sh"), `#!/bin/sh\necho '"second"'\n`);
    await at.start();
    assert.equal(answerOf(await at.call("copied")), "first");
    await at.stop();
  });

  it("are not run if their record was changed, and every other tool is", async () => {
    await at.addPython("broken", "print(1)");
    await at.addPython("whole", "print(2)");
    const record = join(at.home, "tools", "broken@1.0.0", "tool.json");
    await writeFile(record, (await readFile(record, "utf8")).replace('"effects": []', '"effects": ["net_write"]'));
    const { problems } = await listStoredTools(join(at.home, "tools"));
    assert.deepEqual(
      problems.map(({ id }) => id),
      ["broken@1.0.0"],
    );
    await at.start();
    assert.equal(failureOf(await at.call("broken")).code, "TOOL_NOT_FOUND");
    assert.equal(answerOf(await at.call("whole")), 2);
    await at.stop();
  });
});
