import assert from "node:assert/strict";
import { chmod, chown, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { createKernel, type Tool } from "narthex";
import { runTool } from "../../scripts/checks/run-tool.ts";
import { createHostedHome, objectsOf, type TestHome } from "./home.ts";

const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** Would be seen if any of it ran. */
const RUNS = 'import { writeFileSync } from "node:fs";\nwriteFileSync("ran", "");\n';

const FUNCTIONS = `
import type { Integer, ToolContext } from "narthex";

export interface Options {
  /** How often, at most. */
  readonly limit?: Integer;
  readonly sizes: readonly bigint[];
  readonly style?: { readonly case: "lower" | "upper" | null; weight?: bigint | null };
}

/**
 * Repeats a text.
 *
 * @tool
 * @param text what to repeat
 * @tier read_only
 * @determinism pure
 */
export async function repeatText(text: string, options: Options, separator = "-"): Promise<{ readonly said: readonly string[]; readonly total?: string | undefined }> {
  const { limit = 1, sizes, style } = options;
  const total = sizes.reduce((sum, size) => sum + size, style?.weight ?? 0n);
  const said = Array.from({ length: limit }, () => (style?.case === "upper" ? text.toUpperCase() : text));
  return { said: [said.join(separator)], total: \`\${total} of \${typeof total}\` };
}

/** Says who asks. @tool who_asks
 * @tier read_only
 * @effects fs_read */
export async function who(context: ToolContext): Promise<string> {
  return context.session.workspace === "" ? "nobody" : "a session";
}

/** Does nothing. @tool
 * @integer times
 * @tier read_only */
async function nothing(times: number, table?: Record<string, bigint>, rows?: { id: bigint; name?: string }[], maybe?: bigint | null): Promise<void> {
  if (times < 0 || Object.values(table ?? {}).some((value) => typeof value !== "bigint")) throw new Error("no bigint");
  if ((rows ?? []).some(({ id }) => typeof id !== "bigint") || typeof maybe === "number") throw new Error("no bigint");
}
export { nothing as doNothing };

/** Chooses. @tool
 * @tier read_only */
export default async function choose(of: readonly ("a" | "b" | 3 | true)[], fallback: string | null): Promise<Record<string, number> | null> {
  return of.length === 0 ? null : { [String(of[0])]: fallback?.length ?? 0 };
}
`;

const ALONE = { ownProcess: true };

describe("narthex generate rejects", { timeout: 120_000 }, () => {
  const tool = (signature: string): string => `/** Does it.\n * @tool */\nexport ${signature}\n`;
  const WRONG: Readonly<Record<string, string>> = {
    "any.ts": tool("async function untyped(value: any): Promise<Date> { return value; }"),
    "destructured.ts": tool("async function pattern({ a }: { a: string }, ...rest: string[]): Promise<void> {}"),
    "generic.ts": tool("async function generic<T extends string>(): Promise<void> {}"),
    "sync.ts": tool("function sync(): Promise<void> { return Promise.resolve(); }"),
    "syntax.ts": "export async function (",
    "this.ts": tool("async function bound(this: object): Promise<void> {}"),
  };
  let at: TestHome;
  let lines: readonly string[];
  before(async () => {
    at = await createHostedHome();
    for (const [name, text] of Object.entries(WRONG)) await writeFile(join(at.root, name), text);
    const { code, stdout, stderr } = await at.run(
      ["generate", ...Object.keys(WRONG), "gone.ts", "--out", "all.ts"],
      ALONE,
    );
    assert.deepEqual([code, stdout], [1, ""], stderr);
    lines = stderr.trimEnd().split("\n");
  });
  after(() => at.remove());
  const about = (file: string): string[] => lines.filter((line) => line.startsWith(`${file}:`));

  it("a function that is not async, with file, line and reason", () => {
    assert.deepEqual(about("sync.ts"), ["sync.ts:3:17: `sync` has to be async"]);
  });

  it("generics, with file, line and reason", () => {
    assert.deepEqual(about("generic.ts"), ["generic.ts:3:23: `generic` cannot be generic"]);
  });

  it("this, with file, line and reason", () => {
    assert.deepEqual(about("this.ts"), ["this.ts:3:29: a tool has no `this`"]);
  });

  it("destructured and rest parameters, with file, line and reason", () => {
    assert.deepEqual(about("destructured.ts"), [
      "destructured.ts:3:31: a parameter cannot be destructured: give it a name",
      "destructured.ts:3:53: `rest` cannot be a rest parameter: take an array",
    ]);
  });

  it("types without a schema, with file, line and reason", () => {
    assert.deepEqual(about("any.ts"), [
      "any.ts:3:31: `value` has the type `any`, which has no schema",
      "any.ts:3:44: `result` has the type `Date`, which has no schema",
    ]);
  });

  it("missing files and files that are not TypeScript, reporting all of them at once", () => {
    assert.deepEqual(about("gone.ts"), ["gone.ts:1:1: there is no such file"]);
    assert.match(about("syntax.ts")[0] ?? "", /^syntax\.ts:1:\d+: syntax error: /);
    assert.equal(lines.at(-1), `${lines.length - 1} problems: nothing was generated`);
  });

  it("with no output written", async () => {
    assert.ok(!(await readdir(at.root)).includes("all.ts"));
  });

  it("replacing a file that it did not generate, and a missing output path", async () => {
    await writeFile(join(at.root, "fine.ts"), tool("async function fine(): Promise<void> {}"));
    await writeFile(join(at.root, "fine.tools.ts"), "// mine\n");
    const replaced = await at.run(["generate", "fine.ts"]);
    assert.deepEqual([replaced.code, replaced.stdout], [2, ""]);
    assert.match(replaced.stderr, /`fine\.tools\.ts` is there and was not generated/);
    assert.equal(await readFile(join(at.root, "fine.tools.ts"), "utf8"), "// mine\n");
    const several = await at.run(["generate", "fine.ts", "sync.ts"]);
    assert.match(several.stderr, /say with --out where to write it/);
    const itself = await at.run(["generate", "fine.ts", "--out", "./fine.ts"]);
    assert.match(itself.stderr, /--out names a file that is read/);
    assert.deepEqual([several.code, itself.code], [2, 2]);
  });

  it("with every location as JSON too", async () => {
    const { error } = await at.ask(["generate", "sync.ts", "this.ts"], 1);
    assert.deepEqual(objectsOf((error as { violations: [] }).violations), [
      { field: "sync.ts:3:17", rule: "format", message: "`sync` has to be async" },
      { field: "this.ts:3:29", rule: "format", message: "a tool has no `this`" },
    ]);
  });
});

describe("narthex generate", { timeout: 300_000 }, () => {
  let at: TestHome;
  const path = (name: string): string => join(at.root, name);
  before(async () => {
    at = await createHostedHome();
    await chmod(at.root, 0o755);
    if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
    await symlink(MODULES, path("node_modules"));
    await writeFile(path("package.json"), '{ "type": "module" }');
    await writeFile(path("functions.ts"), FUNCTIONS);
  });
  after(() => at.remove());

  it("runs no code of the file or of what a tsconfig names", async () => {
    await writeFile(
      path("loud.ts"),
      `${RUNS}import "./plugin.ts";\n/** Does it. @tool */ export async function loud(): Promise<void> {}\n`,
    );
    await writeFile(path("plugin.ts"), RUNS);
    const plugins = {
      compilerOptions: { plugins: [{ name: "./plugin.ts" }, { transform: "./plugin.ts" }], strict: false },
    };
    await writeFile(path("tsconfig.json"), JSON.stringify(plugins));
    const { code, stderr } = await at.run(["generate", "loud.ts"], ALONE);
    assert.equal(code, 0, stderr);
    assert.ok(!(await readdir(at.root)).includes("ran"));
  });

  it("prints the neutral declarations with --json, and writes nothing", async () => {
    const { declarations } = await at.ask(["generate", "functions.ts"]);
    assert.deepEqual(
      objectsOf(declarations).map(({ name }) => name),
      ["repeat_text", "who_asks", "nothing", "choose"],
    );
    const [repeat] = objectsOf(declarations);
    assert.deepEqual(repeat?.["description"], "Repeats a text.");
    assert.deepEqual(Object.keys(repeat ?? {}), ["name", "description", "parameters"]);
    assert.ok(!(await readdir(at.root)).includes("functions.tools.ts"));
  });

  it("writes the same module each time, and --check reports a difference", async () => {
    assert.equal((await at.run(["generate", "functions.ts", "--check"])).code, 1);
    assert.ok(!(await readdir(at.root)).includes("functions.tools.ts"));
    const first = await at.run(["generate", "functions.ts"], ALONE);
    assert.deepEqual(first, {
      code: 0,
      stdout: "written: functions.tools.ts (repeat_text, who_asks, nothing, choose)\n",
      stderr: "",
    });
    const text = await readFile(path("functions.tools.ts"), "utf8");
    assert.match(text, /^\/\/ generated by narthex generate/);
    assert.equal((await at.run(["generate", "functions.ts", "--check"])).code, 0);
    assert.match(
      (await at.run(["generate", path("functions.ts"), "--out", "functions.tools.ts"])).stdout,
      /^unchanged: /,
    );
    await writeFile(path("functions.tools.ts"), `${text}// changed\n`);
    const stale = await at.run(["generate", "functions.ts", "--check"]);
    assert.deepEqual([stale.code, stale.stdout], [1, ""]);
    assert.equal(await readFile(path("functions.tools.ts"), "utf8"), `${text}// changed\n`);
    assert.equal((await at.ask(["generate", "functions.ts", "--check"], 1))["is_current"], false);
    await chmod(path("functions.tools.ts"), 0o640);
    const others = await readdir(at.root);
    assert.equal((await at.run(["generate", "functions.ts"])).code, 0);
    assert.equal(await readFile(path("functions.tools.ts"), "utf8"), text);
    assert.equal((await stat(path("functions.tools.ts"))).mode & 0o777, 0o640);
    assert.deepEqual(await readdir(at.root), others);
  });

  it("writes tools that a kernel can register and call", async (context) => {
    const { tools } = (await import(pathToFileURL(path("functions.tools.ts")).href)) as { tools: readonly Tool[] };
    const permit = tools.map(
      ({ name }) => `@id("${name}") permit(principal, action == Action::"${name}", resource);\n`,
    );
    const policies = [{ name: "all.cedar", text: permit.join("") }];
    const kernel = await createKernel({ data: path("embedded"), tools, policies });
    context.after(() => kernel.close());
    const session = await kernel.session({ workspace: at.workspace });
    const call = async (name: string, input: object): Promise<unknown> => {
      const result = await session.call(name, input as never);
      assert.equal(result.status, "success", inspect(result));
      return result.raw;
    };
    const options = { limit: 2, sizes: [1, 2], style: { case: "upper", weight: 39 } };
    assert.deepEqual(await call("repeat_text", { text: "a", options }), { said: ["A-A"], total: "42 of bigint" });
    assert.equal(await call("who_asks", {}), "a session");
    assert.equal(
      await call("nothing", { times: 1, table: { a: 1 }, rows: [{ id: 2 }, { id: 3, name: "x" }], maybe: 4 }),
      null,
    );
    assert.deepEqual(await call("choose", { of: [3, "a"], fallback: "four" }), { "3": 4 });
    assert.equal(await call("choose", { of: [], fallback: null }), null);
    for (const wrong of [{ times: 1.5 }, { times: 1, maybe: "4" }, { times: 1, extra: true }, {}]) {
      assert.equal((await session.call("nothing", wrong)).status, "error", JSON.stringify(wrong));
    }
  });

  it("writes one file with --whole, which tools add accepts and the command line calls", async () => {
    const made = await at.run(["generate", "functions.ts", "--whole", "--out", "one-file.ts"]);
    assert.equal(made.code, 0, made.stderr);
    await at.ask(["tools", "add", path("one-file.ts"), "--allow"]);
    const { id } = await at.openSession();
    const input = JSON.stringify({ text: "b", options: { sizes: [40, 2] }, separator: "+" });
    const answer = await at.ask(["call", "repeat_text", input, "--session", id]);
    assert.deepEqual(answer["result"], { said: ["b"], total: "42 of bigint" });
    const wrong = await at.ask(["call", "repeat_text", '{"text":"b","options":{"sizes":[1.5]}}', "--session", id], 4);
    assert.equal(wrong["error_code"], "INVALID_INPUT");
  });

  it("writes code that the strictest compiler options accept, in both forms", async () => {
    await writeFile(path("tsconfig.json"), JSON.stringify({ compilerOptions: STRICTEST }));
    await writeFile(path(".oxlintrc.json"), JSON.stringify(TYPES_ALONE));
    await writeFile(
      path("wrong.ts"),
      'import { tools } from "./functions.tools.ts";\nexport const one: string = tools;\n',
    );
    const files = ["functions.ts", "functions.tools.ts", "one-file.ts", "wrong.ts"];
    const { output } = await runTool("oxlint/bin/oxlint", ["--format=unix", ...files], at.root);
    assert.match(output, /^wrong\.ts:2:14: Type .* is not assignable to type 'string'.*\n\n1 problem\n$/);
  });
});

const STRICTEST = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noUnusedParameters: true,
  noImplicitReturns: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
  target: "es2024",
  lib: ["es2025", "esnext.array", "esnext.disposable"],
  module: "nodenext",
  moduleResolution: "nodenext",
  types: ["node"],
};
/** The linter has the compiler's messages, and none of its own. */
const TYPES_ALONE = {
  plugins: ["typescript"],
  categories: { correctness: "off" },
  options: { typeAware: true, typeCheck: true },
  ignorePatterns: ["node_modules"],
};
