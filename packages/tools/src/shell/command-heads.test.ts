import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandFacts } from "./command-facts.ts";
import { headOf } from "./command-heads.ts";

const headsOf = (command: string) => commandFacts(command).programs.map(headOf);

describe("what a list of allowed commands names", () => {
  for (const [command, head] of [
    ["make test deploy", "make test deploy"],
    ["make -f x test", "make -f x test"],
    ["make -k -j4 test", "make test"],
    ["make 'test x'", "make 'test x'"],
    ["make", "make"],
    ["gradle -I x test", "gradle -I x test"],
    ["gradle --offline test --tests A", "gradle test"],
    ["mvn -q test -pl core", "mvn test"],
    ["mvn test exec:exec", "mvn test exec:exec"],
    ["npm 'run test'", "npm 'run test'"],
    ["npm run test -- x", "npm run test"],
    ["npm --prefix x test", "npm --prefix"],
    ["git -C x log", "git -C"],
    ["git --no-pager log -3", "git log"],
    ["git --no-pager -C x log", "git -C"],
    ["ruff format .", "ruff format"],
    ["python3 -m pytest -q", "python3 -m pytest"],
    ["./make test", "./make"],
    ["./gradlew -q test", "./gradlew test"],
    ["./gradlew -I x test", "./gradlew -I x test"],
    ["a/gradlew test", "a/gradlew"],
    ["cmake --build build", "cmake --build"],
    ["cmake -P x", "cmake -P"],
    ["vitest --config x run", "vitest --config"],
  ] as const) {
    it(`of \`${command}\` is \`${head}\``, () => assert.deepEqual(headsOf(command), [head]));
  }
});
