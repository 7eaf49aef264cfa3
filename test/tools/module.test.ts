import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { findTools } from "@narthex/host";
import { answerOf, createProgramHome, failureOf, type ProgramHome } from "./program-home.ts";

const TOOLS = `
import { readFileSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { connect } from "node:net";
import { defineTool } from "narthex";

interface Named { readonly name: string }
const any = { inputSchema: true, tier: "read_only", description: "Runs." } as const;

export const greet = defineTool({
  ...any,
  name: "greet",
  version: "2.1.0",
  inputSchema: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
  determinism: "pure",
  run: ({ name }: Named) => ({ said: "hello " + name }),
});

export const tools = [
  greet,
  { ...any, name: "prints", run() { console.log("to the log"); process.stdout.write("{}"); return [1, 2]; } },
  { ...any, name: "throws", run() { throw new Error("no luck today"); } },
  { ...any, name: "answers_nothing", run() {} },
  { ...any, name: "spins", bounds: { timeoutMs: 700 }, run() { for (;;); } },
  { ...any, name: "lingers", run() { setInterval(() => {}, 1000); return "done"; } },
  { ...any, name: "logs", run(_input: unknown, { log }: { log(...words: unknown[]): void }) { log("a remark"); throw new Error("x"); } },
  { ...any, name: "reads", effects: ["fs_read"], run: ({ path }: { path: string }) => readFileSync(path, "utf8") },
  { ...any, name: "pries", run: ({ path }: { path: string }) => readFileSync(path, "utf8") },
  { ...any, name: "writes", effects: ["fs_read"], run: () => writeFileSync("made", "x") ?? "made" },
  { ...any, name: "spawns", run: () => execFileSync("/bin/echo", ["x"]).toString() },
  { ...any, name: "dials", run: () => new Promise((resolve, reject) =>
    connect(7411, "127.0.0.1").on("connect", () => resolve("connected")).on("error", reject)) },
];
`;

describe("a module's tools", { timeout: 300_000 }, () => {
  let at: ProgramHome;
  before(async () => {
    at = await createProgramHome();
    await at.add(join(await at.write({ "my-tools.ts": TOOLS }), "my-tools.ts"));
    await at.add(
      join(
        await at.write({
          "plain.js": `export default { name: "plain", description: "Runs.", inputSchema: true, run: async (input) => ({ input }) };`,
        }),
        "plain.js",
      ),
    );
    await at.start();
  });
  after(() => at.remove());

  it("are its exports, each with what it declares and the defaults of `defineTool`", () => {
    const listed = at.kernel
      .listTools({ allVersions: false })
      .filter(({ declaration }) => declaration.source === "module");
    const greet = listed.find(({ declaration }) => declaration.name === "greet")?.declaration;
    assert.equal(listed.length, 13);
    assert.deepEqual(
      [greet?.version, greet?.determinism, greet?.tier, greet?.isolation, greet?.effects],
      ["2.1.0", "pure", "read_only", "process", []],
    );
    const plain = listed.find(({ declaration }) => declaration.name === "plain")?.declaration;
    assert.deepEqual([plain?.version, plain?.tier], ["1.0.0", "side_effecting"]);
    assert.match(greet?.program?.hash ?? "", /^[0-9a-f]{64}$/);
  });

  it("run in TypeScript and in JavaScript, with validated input", async () => {
    assert.deepEqual(answerOf(await at.call("greet", { name: "you" })), { said: "hello you" });
    assert.deepEqual(answerOf(await at.call("plain", [1])), { input: [1] });
    assert.equal(failureOf(await at.call("greet", { name: 1 })).code, "INVALID_INPUT");
  });

  it("return the value of `run`, whatever they print, and leave no process behind", async () => {
    assert.deepEqual(answerOf(await at.call("prints")), [1, 2]);
    assert.equal(answerOf(await at.call("lingers")), "done");
  });

  it("that throw, or return nothing, fail with their message", async () => {
    assert.match(failureOf(await at.call("throws")).message, /no luck today/);
    assert.match(failureOf(await at.call("answers_nothing")).message, /answered nothing/);
    assert.match(failureOf(await at.call("logs")).message, /a remark/);
    assert.equal(failureOf(await at.call("spins")).code, "TIMEOUT");
  });

  it("have no undeclared effects", async () => {
    await writeFile(join(at.workspace, "a.txt"), "workspace");
    assert.equal(answerOf(await at.call("reads", { path: "a.txt" })), "workspace");
    for (const path of ["/workspace/a.txt", join(at.workspace, "a.txt"), join(at.home, "narthex.yaml")]) {
      assert.match(failureOf(await at.call("pries", { path })).message, /ENOENT/, path);
    }
    assert.match(failureOf(await at.call("writes")).message, /EROFS/);
    assert.equal(failureOf(await at.call("spawns")).code, "UNDECLARED_EFFECT");
    assert.match(failureOf(await at.call("dials")).message, /ECONNREFUSED/);
  });
});

describe("adding a module", { timeout: 300_000 }, () => {
  let at: ProgramHome;
  before(async () => {
    at = await createProgramHome();
  });
  after(() => at.remove());

  async function problemOf(module: string, name = "tools.ts"): Promise<string> {
    const path = join(await at.write({ [name]: module }), name);
    try {
      await findTools(path);
    } catch (fault) {
      assert.ok(isKernelError(fault), String(fault));
      assert.equal(fault.code, "INVALID_DECLARATION");
      return [fault.message, ...fault.violations.map(({ field, message }) => `${field}: ${message}`)].join("\n");
    }
    assert.fail("it was taken");
  }

  const tool = (more: string, name = "a"): string =>
    `export const ${name} = { name: "${name}", description: "Runs.", inputSchema: true, ${more} run: () => 1 };\n`;

  it("never runs it on the host: describing it happens in a sandbox", async () => {
    const canary = join(at.root, "canary");
    await writeFile(canary, "untouched");
    const hostile = `
import { existsSync, readdirSync, writeFileSync } from "node:fs";
let seen = [];
for (const path of ${JSON.stringify([canary, at.home, at.root])}) if (existsSync(path)) seen.push(path);
try { writeFileSync(${JSON.stringify(join(at.root, "made"))}, "x"); seen.push("wrote"); } catch {}
const variables = Object.keys(process.env).filter((name) => name !== "PWD");
${tool("").replace('"Runs."', '"seen " + JSON.stringify([...seen, ...variables])')}`;
    const path = join(await at.write({ "hostile.ts": hostile }), "hostile.ts");
    const { tools } = await findTools(path);
    assert.equal(tools[0]?.declaration.description, "seen []");
  });

  it("names each tool's problems by its place in the module", async () => {
    const problems = await problemOf(
      tool('effects: ["db_read"], narrow: () => ({}),') + tool('tier: "safe", bounds: { timeoutMs: -1 },', "b"),
    );
    for (const field of ["tools[0].effects[0]", "tools[0].narrow", "tools[1].tier", "tools[1].bounds.timeout_ms"]) {
      assert.ok(problems.includes(`${field}: `), `${field} in\n${problems}`);
    }
  });

  it("rejects one that exports no tool, two of one name, or does not load", async () => {
    assert.match(await problemOf("export const x = 1;"), /exports no tools/);
    assert.match(await problemOf(tool("") + tool("").replace("const a", "const b")), /exported twice/);
    assert.match(await problemOf("throw new Error('not today');"), /not today/);
    assert.match(await problemOf(`import "left-pad";`), /left-pad/);
    assert.match(await problemOf("enum A { B }"), /does not say which tools/);
    assert.match(await problemOf("process.exit(0);"), /exports no tools/);
    assert.match(await problemOf(`process.kill(process.pid, "SIGKILL");`), /does not say which tools/);
  });

  it("accepts no other file as a module", async () => {
    const path = join(await at.write({ "tools.py": "" }), "tools.py");
    await assert.rejects(findTools(path), { code: "INVALID_DECLARATION" });
  });
});
