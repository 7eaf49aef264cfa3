import assert from "node:assert/strict";
import { link, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isKernelError, type JsonObject } from "@narthex/contracts";
import { findTools } from "@narthex/host";
import { answerOf, createProgramHome, failureOf, type ProgramHome } from "./program-home.ts";

const READS = { effects: ["fs_read"], tier: "read_only" };

/** Tries something, and answers what came of it. */
const trying = (code: string): string => `
import json, os, socket, subprocess, sys
request = json.load(sys.stdin)
def attempt():
${code
  .split("\n")
  .map((line) => `    ${line}`)
  .join("\n")}
try:
    print(json.dumps({"did": attempt()}))
except BaseException as error:
    print(json.dumps({"refused": type(error).__name__}))
`;

describe("a program with undeclared effects", { timeout: 300_000 }, () => {
  let at: ProgramHome;
  before(async () => {
    at = await createProgramHome();
    await at.addPython("looks", trying(`return [path for path in request["paths"] if os.path.lexists(path)]`));
    await at.addPython("reads", trying(`return open(request["path"]).read()`), READS);
    await at.addPython("writes", trying(`open("made.txt", "w").write("x")\nreturn os.getcwd()`), READS);
    await at.addPython(
      "writes_anywhere",
      trying(`open(request["path"], "w").write("x")\nreturn request["path"]`),
      READS,
    );
    await at.addPython("writes_rightly", trying(`open("right.txt", "w").write("x")\nreturn os.getcwd()`), {
      effects: ["fs_read", "fs_write"],
    });
    await at.addPython("forks", trying(`return os.fork()`));
    await at.addPython("spawns", trying(`return subprocess.check_output(["/bin/true"]).decode()`), READS);
    await at.addPython("spawns_rightly", trying(`return subprocess.check_output(["/bin/echo", "yes"]).decode()`), {
      effects: ["process_spawn"],
    });
    await at.addPython(
      "dials",
      trying(`socket.create_connection(("127.0.0.1", request["port"]), 2)\nreturn "connected"`),
    );
    await at.addPython("changes_itself", trying(`open(sys.argv[0], "a").write("# more")\nreturn sys.argv[0]`));
    await at.addPython(
      "leaves_something",
      trying(
        `found = [name for name in os.listdir("/tmp") if name == "left"]\nopen("/tmp/left", "w").write("x")\nreturn found`,
      ),
    );
    await at.addPython("environment", trying(`return dict(os.environ)`));
    await at.start();
  });
  after(() => at.remove());

  it("without file effects sees no workspace, no kernel home and no user home", async () => {
    await writeFile(join(at.workspace, "a.txt"), "a");
    const paths = [
      at.home,
      at.workspace,
      join(at.home, "narthex.yaml"),
      at.root,
      "/workspace",
      "/root",
      "/home/agent/.ssh",
    ];
    assert.deepEqual(answerOf(await at.call("looks", { paths })), { did: [] });
  });

  it("with fs_read reads the workspace, and nothing of the kernel's home", async () => {
    assert.deepEqual(answerOf(await at.call("reads", { path: "a.txt" })), { did: "a" });
    for (const path of [
      join(at.home, "run/admin.token"),
      join(at.home, "tools/reads@1.0.0/tool.json"),
      "/etc/shadow",
    ]) {
      assert.deepEqual(answerOf(await at.call("reads", { path })), { refused: "FileNotFoundError" }, path);
    }
  });

  it("without fs_write changes nothing", async () => {
    assert.deepEqual(answerOf(await at.call("writes")), { refused: "OSError" });
    await assert.rejects(stat(join(at.workspace, "made.txt")));
    for (const path of ["/usr/bin/made", "/opt/tool/made", "/made", "/etc/made"]) {
      const { refused } = answerOf(await at.call("writes_anywhere", { path })) as JsonObject;
      assert.match(String(refused), /^(?:OSError|PermissionError)$/, path);
    }
    assert.deepEqual(answerOf(await at.call("changes_itself")), { refused: "PermissionError" });
    assert.deepEqual(answerOf(await at.call("writes_rightly")), { did: "/workspace" });
    assert.equal(await readFile(join(at.workspace, "right.txt"), "utf8"), "x");
  });

  it("without process_spawn starts no second process", async () => {
    for (const tool of ["forks", "spawns"]) {
      const { code, message } = failureOf(await at.call(tool));
      assert.equal(code, "UNDECLARED_EFFECT");
      assert.match(message, /did not declare the effect `process_spawn`/);
    }
    assert.deepEqual(answerOf(await at.call("spawns_rightly")), { did: "yes\n" });
  });

  it("has a sandbox of its own for each call, without leftovers of an earlier one", async () => {
    for (const call of [1, 2, 3]) {
      assert.deepEqual(answerOf(await at.call("leaves_something", { call })), { did: [] });
    }
  });

  it("reaches no network, not even the host's own", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const answer = answerOf(await at.call("dials", { port })) as JsonObject;
    assert.match(String(answer["refused"]), /Error$/);
    assert.equal(connections, 0);
    await new Promise((resolve) => server.close(resolve));
  });

  it("sees no variable of the kernel's environment", async () => {
    process.env["NARTHEX_TEST_CANARY"] = "canary-value";
    const { did } = answerOf(await at.call("environment")) as { did: Record<string, string> };
    delete process.env["NARTHEX_TEST_CANARY"];
    assert.equal(did["PATH"]?.includes("/usr/bin"), true);
    assert.ok(!JSON.stringify(did).includes("canary-value"));
  });
});

describe("adding a tool", { timeout: 60_000 }, () => {
  let at: ProgramHome;
  before(async () => {
    at = await createProgramHome();
  });
  after(() => at.remove());

  const SOUND = {
    name: "sound",
    version: "1.0.0",
    description: "Runs.",
    command: ["python3", "./tool.py"],
    input_schema: true,
    effects: [],
    determinism: "pure",
    tier: "read_only",
  };

  async function problemsOf(manifest: unknown, files: Readonly<Record<string, string>> = {}): Promise<string> {
    const directory = await at.write({ "tool.py": "print(1)", ...files, "tool.json": JSON.stringify(manifest) });
    return await problemsAt(join(directory, "tool.json"));
  }

  async function problemsAt(path: string): Promise<string> {
    try {
      await findTools(path);
    } catch (fault) {
      assert.ok(isKernelError(fault), String(fault));
      assert.equal(fault.code, "INVALID_DECLARATION");
      return [fault.message, ...fault.violations.map(({ field, message }) => `${field}: ${message}`)].join("\n");
    }
    assert.fail("it was taken");
  }

  it("rejects a manifest with all its problems at once, each by its place", async () => {
    const problems = await problemsOf({
      ...SOUND,
      name: "Not A Name",
      versions: "1.0.0",
      description: 5,
      command: ["/usr/bin/python3", "./../tool.py"],
      input_schema: { type: "objet" },
      effects: ["db_read", "fs_write", "everything"],
      tier: "safe",
      bounds: { timeout_ms: 0, memory: 1 },
      secrets: { PATH: "key", "a b": "key", KEY: "Not a name" },
      files: "tool.py",
    });
    const fields = [
      "name",
      "versions",
      "description",
      "command[0]",
      "command[1]",
      "input_schema",
      "effects[0]",
      "effects[2]",
      "tier",
    ];
    for (const field of [
      ...fields,
      "bounds.timeout_ms",
      "bounds.memory",
      "secrets.PATH",
      "secrets.a b",
      "secrets.KEY",
      "files",
    ]) {
      assert.match(
        problems,
        new RegExp(`^${field.replaceAll(/[[\].]/g, "\\$&")}[^:\n]*: `, "m"),
        `${field} in\n${problems}`,
      );
    }
    assert.match(problems, /tool\.json/);
  });

  it("rejects a contradictory declaration", async () => {
    assert.match(await problemsOf({ ...SOUND, effects: ["fs_read", "fs_write"] }), /tier: .*read_only.*fs_write/);
    assert.match(await problemsOf({ ...SOUND, effects: ["fs_read"] }), /determinism: .*pure/);
    assert.match(
      await problemsOf({ ...SOUND, tier: "side_effecting", determinism: "external", effects: ["fs_write"] }),
      /fs_read beside fs_write/,
    );
    assert.match(
      await problemsOf({ ...SOUND, capabilities: [{ kind: "fs_read", prefixes: ["/"] }] }),
      /follows from the effects/,
    );
    assert.match(
      await problemsOf({ ...SOUND, command: ["python3", "-c", "print(1)"] }),
      /must name a file of the tool/,
    );
    assert.match(await problemsOf({ ...SOUND, command: [] }), /must name a program/);
  });

  it("rejects YAML with repeated keys or aliases, or that is no manifest", async () => {
    const lines =
      "version: 1.0.0\ndescription: Runs.\ncommand: [python3, ./tool.py]\ninput_schema: true\neffects: []\ntier: read_only\n";
    const yaml = async (text: string): Promise<string> =>
      problemsAt(join(await at.write({ "tool.yaml": text, "tool.py": "" }), "tool.yaml"));
    assert.match(await yaml(`${lines}determinism: pure\nname: a\nname: b\n`), /`name` twice/);
    assert.match(await yaml(`${lines}determinism: &p pure\nname: *p\n`), /is an alias/);
    assert.match(await yaml("- a\n- b\n"), /must be an object/);
    assert.match(await yaml("a: ["), /is not YAML/);
    assert.match(
      await problemsAt(join(await at.write({ "tool.json": '{"a":1,"a":2}' }), "tool.json")),
      /cannot be read/,
    );
  });

  it("rejects paths outside of the manifest's directory", async () => {
    for (const path of ["../other.py", "lib/../../other.py", "/etc/passwd", "lib//x", "lib/./x", "x/", ".."]) {
      assert.match(await problemsOf({ ...SOUND, files: [path] }), /files\[0\]/, path);
      assert.match(await problemsOf({ ...SOUND, command: ["python3", `./${path}`] }), /command\[1\]/, path);
    }
  });

  it("rejects a program that is a link, is behind one, or is no plain file", async () => {
    const manifest = JSON.stringify(SOUND);
    const directory = await at.write({ "tool.json": manifest, "real.py": "print(1)" });
    await symlink("real.py", join(directory, "tool.py"));
    assert.match(await problemsAt(join(directory, "tool.json")), /`tool\.py` is a link/);
    await rm(join(directory, "tool.py"));
    assert.match(await problemsAt(join(directory, "tool.json")), /`tool\.py` does not exist/);
    await mkdir(join(directory, "tool.py"));
    assert.match(await problemsAt(join(directory, "tool.json")), /`tool\.py` is not a file/);

    const behind = await at.write({
      "tool.json": JSON.stringify({ ...SOUND, command: ["python3", "./lib/tool.py"] }),
      "elsewhere/tool.py": "print(1)",
    });
    await symlink("elsewhere", join(behind, "lib"));
    assert.match(
      await problemsAt(join(behind, "tool.json")),
      /leads through something that is no directory, or a link/,
    );

    const linked = await at.write({ "real.json": manifest, "tool.py": "print(1)" });
    await symlink("real.json", join(linked, "tool.json"));
    assert.match(await problemsAt(join(linked, "tool.json")), /is a link; name the file itself/);
  });

  it("rejects a program that is not executable, or is too large", async () => {
    assert.match(await problemsOf({ ...SOUND, command: ["./tool.py"] }), /not executable.*chmod \+x/);
    const directory = await at.write({ "tool.json": JSON.stringify(SOUND), "tool.py": "" });
    const { truncate } = await import("node:fs/promises");
    await truncate(join(directory, "tool.py"), 65 * 1024 * 1024);
    assert.match(await problemsAt(join(directory, "tool.json")), /is larger than/);
  });

  it("installs the bytes it validated, whatever happens to the files afterwards", async () => {
    const directory = await at.write({ "tool.json": JSON.stringify(SOUND), "tool.py": "print('mine')" });
    await link(join(directory, "tool.py"), join(directory, "other.py"));
    await at.add(join(directory, "tool.json"));
    await writeFile(join(directory, "other.py"), "print('theirs')");
    await rename(directory, `${directory}-gone`);
    await at.addPython("mine", "import json\nprint(json.dumps('mine'))");
    await at.start();
    assert.equal(answerOf(await at.call("mine")), "mine");
    assert.equal(failureOf(await at.call("sound")).code, "INVALID_OUTPUT", "`mine` without quotes is what it prints");
    assert.match(failureOf(await at.call("sound", { again: true })).message, /not one JSON value/);
  });
});
