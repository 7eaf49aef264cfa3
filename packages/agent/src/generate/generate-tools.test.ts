import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { FunctionDecl } from "../declare/function-decl.ts";
import { createSourceTree, type SourceTree } from "./testing/generate-from.ts";

const TYPES = `
export interface Options {
  /** How many at most. */
  readonly limit?: number;
  /** @integer */
  depth: number;
  "odd-key": "b" | "a" | null;
}
export type Level = 3 | 1 | 2;
`;

const SOURCE = `
import type { Integer as Whole, ToolContext } from "narthex";
import type { Level, Options } from "./types.js";

/**
 * Looks for files.
 *
 * Says "what" it found, and \`how\`.
 * @tool
 * @param pattern - what to look for,
 *   on two lines
 * @tier read_only
 * @effects fs_read process_spawn
 * @determinism deterministic
 * @version 2.1.0-beta.1
 * @returns their names
 * @internal
 */
export async function lookForHTMLFiles(pattern: string, options: Options, context: ToolContext): Promise<string[]> {
  return [pattern, String(options.limit), context.requestId];
}

/** Numbers. @tool
 * @integer tagged
 */
async function numbers(plain: number, big: bigint, whole: Whole, tagged: number, flag: boolean, many?: Whole[]): Promise<void> {}
export { numbers as renamed };

/** Shapes. @tool all_shapes */
export default async function shapes(
  text = "x",
  level?: Level,
  only?: "one",
  maybe?: string | null,
  yes?: boolean | null,
  rows?: readonly { readonly id: bigint; at?: string | undefined }[],
  table?: Readonly<Record<string, readonly number[]>>,
  picked?: Partial<Pick<Options, "depth">> & { z: null },
): Promise<Record<string, number> | null> { return null; }

/** Not marked. */
export async function unmarked(anything: any): Promise<any> {}
`;

describe("generated declarations", () => {
  let tree: SourceTree;
  let declarations: ReadonlyMap<string, FunctionDecl>;
  before(() => {
    tree = createSourceTree({ "types.ts": TYPES, "source.ts": SOURCE });
    declarations = new Map(tree.generate("source.ts").declarations.map((one) => [one.name, one]));
  });
  after(() => tree.remove());
  const propertiesOf = (name: string): unknown => declarations.get(name)?.parameters["properties"];

  it("are made only from exported async functions marked @tool", () => {
    assert.deepEqual([...declarations.keys()], ["look_for_html_files", "numbers", "all_shapes"]);
  });

  it("have the function's name in a tool's form, or the one in the tag", () => {
    assert.ok(declarations.has("look_for_html_files"));
    assert.ok(declarations.has("all_shapes"));
  });

  it("have the doc comment as description, without its tags", () => {
    const { description } = declarations.get("look_for_html_files") ?? {};
    assert.equal(description, 'Looks for files.\n\nSays "what" it found, and `how`.');
  });

  it("have the parameters as properties, described by @param, without the context", () => {
    assert.deepEqual(declarations.get("look_for_html_files")?.parameters, {
      type: "object",
      properties: {
        pattern: { type: "string", description: "what to look for,\non two lines" },
        options: {
          type: "object",
          properties: {
            limit: { type: "number", description: "How many at most." },
            depth: { type: "integer" },
            "odd-key": { enum: ["a", "b", null] },
          },
          required: ["depth", "odd-key"],
          additionalProperties: false,
        },
      },
      required: ["pattern", "options"],
      additionalProperties: false,
    });
  });

  it("use number for number, boolean for boolean, and integer for bigint, Integer and @integer", () => {
    assert.deepEqual(propertiesOf("numbers"), {
      plain: { type: "number" },
      big: { type: "integer" },
      whole: { type: "integer" },
      tagged: { type: "integer" },
      flag: { type: "boolean" },
      many: { type: "array", items: { type: "integer" } },
    });
  });

  it("map optional parameters, literal unions, null, arrays, records and nested objects", () => {
    const { parameters } = declarations.get("all_shapes") ?? {};
    assert.equal(parameters?.["required"], undefined);
    assert.deepEqual(parameters?.["properties"], {
      text: { type: "string" },
      level: { enum: [1, 2, 3] },
      only: { enum: ["one"] },
      maybe: { type: ["string", "null"] },
      yes: { type: ["boolean", "null"] },
      rows: {
        type: "array",
        items: {
          type: "object",
          properties: { id: { type: "integer" }, at: { type: "string" } },
          required: ["id"],
          additionalProperties: false,
        },
      },
      table: { type: "object", additionalProperties: { type: "array", items: { type: "number" } } },
      picked: {
        type: "object",
        properties: { depth: { type: "integer" }, z: { type: "null" } },
        required: ["z"],
        additionalProperties: false,
      },
    });
  });

  it("are independent of other files and of line ends", () => {
    const text = (...names: readonly string[]): string =>
      tree.generate(...names).printModule(join(tree.directory, "out.ts"));
    const [, , , ...alone] = text("source.ts").split("\n");
    const other = createSourceTree({
      "a-first.ts": `/** Other. @tool */ export async function first(x: "b" | 2 | "a" | 3): Promise<1 | 2> { return 1; }\n`,
      "source.ts": SOURCE.replaceAll("\n", "\r\n"),
      "types.ts": TYPES,
    });
    const both = other.generate("source.ts", "a-first.ts").printModule(join(other.directory, "out.ts"));
    other.remove();
    assert.ok(both.endsWith(alone.slice(alone.indexOf('    name: "look_for_html_files",')).join("\n")));
  });
});

describe("the generated module", () => {
  it("uses distinct names, however functions are called", () => {
    const marked = (name: string): string =>
      `/** Does it. @tool do_${name.toLowerCase()} */\nexport async function ${name}(a: bigint[]): Promise<void> {}\n`;
    const tree = createSourceTree({
      "one.ts": ["tools", "input", "defineTool", "item"].map(marked).join(""),
      "two.ts": `/** Does it. @tool second */\nexport async function input(): Promise<"x"> { return "x"; }\n`,
      "whole.ts": `import { defineTool } from "narthex";\nexport const Tool = defineTool;\n${marked("input")}`,
    });
    const imported = tree.generate("one.ts", "two.ts").printModule(join(tree.directory, "sub/out.ts"));
    const whole = tree.generate("whole.ts").printStandaloneModule(join(tree.directory, "whole.tools.ts"));
    tree.remove();
    assert.deepEqual(imported.split("\n").slice(0, 6), [
      "// generated by narthex generate: change the functions and run it again",
      'import { defineTool as defineTool2, type Tool } from "narthex";',
      'import { tools as tools2, input, defineTool, item } from "../one.ts";',
      'import { input as input2 } from "../two.ts";',
      "",
      "export const tools: readonly Tool[] = [",
    ]);
    assert.ok(imported.includes("await input(input3.a.map((item2) => BigInt(item2)));"));
    assert.ok(imported.includes("run: () => input2(),"));
    assert.ok(whole.includes('import { defineTool as defineTool2, type Tool as Tool2 } from "narthex";\n'));
    assert.ok(whole.includes("await input(input2.a.map((item) => BigInt(item)));"));
  });

  it("imports a function that is exported under any name", () => {
    const tree = createSourceTree({
      "odd.ts": `/** Does it. @tool */\nasync function f(): Promise<void> {}\nexport { f as "a b" };\n`,
      "plain.ts": `/** Does it. @tool */\nasync function g(): Promise<void> {}\nexport { g as größe };\n`,
    });
    const text = tree.generate("odd.ts", "plain.ts").printModule(join(tree.directory, "out.ts"));
    tree.remove();
    assert.ok(
      text.includes('import { "a b" as f } from "./odd.ts";\nimport { größe as g } from "./plain.ts";\n'),
      text,
    );
  });

  it("contains only its own code, whatever comments, names and literals contain", () => {
    const hostile = "`); process.exit(1); ('\\u2028\\\\\" ${process.exit(1)}";
    const tree = createSourceTree({
      "hostile.ts": `/** ${hostile}\n * @tool\n * @param a ${hostile} */\nexport async function f(a: ${JSON.stringify(hostile)}, b: { ${JSON.stringify(hostile)}: string }): Promise<void> {}\n`,
    });
    const text = tree.generate("hostile.ts").printModule(join(tree.directory, "out.ts"));
    tree.remove();
    const literals = /"(?:[^"\\\n]|\\.)*"/g;
    assert.ok(text.includes("process.exit"));
    assert.ok(!text.replaceAll(literals, '""').includes("process"), text);
  });
});
