import assert from "node:assert/strict";
import { test } from "node:test";
import { commandFiles } from "./approval-files.ts";

const session = { id: "s", tenant: "t", workspace: "/home/ada/w", workingDirectory: "/home/ada/w/src" };
const filesOf = (command: string, cwd?: string) => commandFiles({ command, cwd }, session);

test("the files that a command runs are named from the workspace's root", () => {
  assert.deepEqual(filesOf("./deploy.sh staging"), ["src/deploy.sh"]);
  assert.deepEqual(filesOf("sub/../deploy.sh"), ["src/deploy.sh"]);
  assert.deepEqual(filesOf("/workspace/bin/x && /home/ada/w/bin/y"), ["bin/x", "bin/y"]);
  assert.deepEqual(filesOf("./x", "tools"), ["src/tools/x"]);
  assert.deepEqual(filesOf("timeout 5 ./x | tee log"), ["src/x"]);
  assert.deepEqual(filesOf("bash -e run.sh data.csv /etc/passwd"), ["src/run.sh", "src/data.csv"]);
  assert.deepEqual(filesOf("node --require=./hook.js main.js"), ["src/hook.js", "src/main.js"]);
  assert.deepEqual(filesOf(". ./env.sh"), ["src/env.sh"]);
  assert.deepEqual(filesOf("npm run deploy"), ["src/package.json"]);
});

test("recipes are found where options say that they lie", () => {
  const makefiles = (at: string) => ["GNUmakefile", "makefile", "Makefile"].map((name) => `${at}${name}`);
  for (const option of ["-C sub", "-Csub", "-kC sub", "--directory=sub", "--dir sub"]) {
    assert.deepEqual(filesOf(`make ${option} deploy`), makefiles("src/sub/"), option);
  }
  for (const option of ["-f x.mk", "-fx.mk", "--file=x.mk", "--makef x.mk"]) {
    assert.deepEqual(filesOf(`make ${option}`), [...makefiles("src/"), "src/x.mk"], option);
  }
  assert.deepEqual(filesOf("make -C sub -f x.mk"), [...makefiles("src/sub/"), "src/x.mk", "src/sub/x.mk"]);
  assert.deepEqual(filesOf("make -C a -C b"), makefiles("/unknown/"));
  assert.deepEqual(filesOf("npm --prefix ../web run deploy"), ["web/package.json"]);
  assert.deepEqual(filesOf("yarn --cwd=/workspace/web deploy"), ["web/package.json"]);
});

test("a script that an interpreter reads as its input is among them", () => {
  assert.deepEqual(filesOf("bash < run.sh"), ["src/run.sh"]);
  assert.deepEqual(filesOf("cat run.sh | sh -s"), ["src/run.sh"]);
  assert.deepEqual(filesOf("cat data.csv | sort"), []);
});

test("programs of the system are no files of anyone, and others that lie elsewhere keep their path", () => {
  assert.deepEqual(filesOf("/usr/bin/git push"), []);
  assert.deepEqual(filesOf("rm -f a b"), []);
  assert.deepEqual(filesOf("/tmp/x.sh"), ["/tmp/x.sh"]);
  assert.deepEqual(filesOf("python3 ../../../x.py"), ["/home/x.py"]);
  assert.deepEqual(filesOf("cd elsewhere && ./x && make"), [
    "/unknown/x",
    "/unknown/GNUmakefile",
    "/unknown/makefile",
    "/unknown/Makefile",
  ]);
});
