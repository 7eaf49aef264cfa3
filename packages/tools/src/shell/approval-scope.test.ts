import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandScope, type ScopedCommand } from "./approval-scope.ts";

const session = { id: "s", tenant: "t", workspace: "/w", workingDirectory: "/w" };
const scopeOf = (command: string, more: Partial<ScopedCommand> = {}) => commandScope({ command, ...more }, session);

describe("what an answer for the session covers of a command", () => {
  for (const [what, commands] of Object.entries({
    "an interpreter, with code or with a file": [
      "bash -lc 'npm test'",
      "bash x.sh",
      "sh",
      "/bin/sh x.sh",
      "python3 x.py",
      "python3 -c 1",
      "node x.js",
      "perl x.pl",
      "ruby x.rb",
      "awk '{print}' f",
      "ssh host ls",
      "psql -c 1",
    ],
    "a program that runs others": ["env ls", "sudo ls", "xargs rm", "nohup ls", "timeout 5 ls", "find . -exec rm {} +"],
    "more than one program": ["ls; rm x", "ls && rm x", "ls | cat", "ls\nrm x"],
    "what is not literal": [
      "ls $X",
      "ls *",
      "ls `id`",
      "ls $(id)",
      "ls ~",
      "$X",
      "ls {a,b}",
      "ls 'a",
      "eval ls",
      "if ls; then x; fi",
    ],
    "redirections, variables, background and other directories": [
      "ls > x",
      "ls < x",
      "A=1 ls",
      "ls &",
      "cd x",
      "pushd x",
    ],
    "what is not ASCII": ["l\u0455", "ls \u00a0x", "ls \u202ex", "ls é"],
    nothing: ["", " ", "# ls"],
  })) {
    it(`is nothing but the very input for ${what}`, () => {
      for (const command of commands) assert.equal(scopeOf(command), undefined, command);
    });
  }

  it("is nothing but the very input where variables or input are given beside it", () => {
    assert.equal(scopeOf("ls", { env: { LD_PRELOAD: "x" } }), undefined);
    assert.equal(scopeOf("ls", { stdin: "x" }), undefined);
    assert.ok(scopeOf("ls", { env: {}, stdin: "" }));
  });

  it("is the program with its words, where it runs and whether with network", () => {
    assert.deepEqual(scopeOf("npm install 'a b'  --save"), {
      kind: "command",
      words: ["npm", "install", "a b", "--save"],
      line: "npm install 'a b' --save",
      directory: "",
      network: false,
    });
    assert.deepEqual(scopeOf("ls", { cwd: "/w/sub/", network_access: true }), {
      kind: "command",
      words: ["ls"],
      line: "ls",
      directory: "sub",
      network: true,
    });
  });
});
