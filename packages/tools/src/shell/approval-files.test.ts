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
