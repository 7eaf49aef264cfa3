/** A source that breaks one rule, and all that is to be said about it, each as `line:column: message`. */
export interface WrongSource {
  readonly rule: string;
  readonly source: string;
  readonly problems: readonly string[];
}

const tool = (signature: string, before = ""): string => `${before}\n/** Does it.\n * @tool */\n${signature}\n`;
const taking = (parameters: string, before = ""): string =>
  tool(`export async function f(${parameters}): Promise<void> {}`, before);
const answering = (result: string, before = ""): string =>
  tool(`export async function f(): Promise<${result}> { throw new Error(); }`, before);
const tagged = (tags: string): string =>
  `/** Does it.\n * @tool\n${tags} */\nexport async function f(a: string, n: number): Promise<void> {}\n`;

export const WRONG_FORMS: readonly WrongSource[] = [
  {
    rule: "it is not async",
    source: tool("export function f(): Promise<void> { return Promise.resolve(); }"),
    problems: ["4:17: `f` has to be async"],
  },
  {
    rule: "it is not exported",
    source: tool("async function hidden(): Promise<void> {}"),
    problems: ["4:16: `hidden` has to be exported"],
  },
  {
    rule: "it is generic",
    source: tool("export async function f<T>(value: T): Promise<void> {}"),
    problems: ["4:23: `f` cannot be generic", "4:28: `value` has the type `T`, which has no schema"],
  },
  { rule: "it takes this", source: taking("this: Window, a: string"), problems: ["4:25: a tool has no `this`"] },
  {
    rule: "it is a method",
    source: "export class C {\n  /** Does it.\n   * @tool */\n  async f(): Promise<void> {}\n}\n",
    problems: ["4:3: a method cannot be a tool: write a function"],
  },
  {
    rule: "it is a function in a variable",
    source: tool("export const f = async (): Promise<void> => {};"),
    problems: ["4:1: `@tool` belongs to a function: write `export async function`"],
  },
  {
    rule: "it is not at the top of the file",
    source:
      "export function outer() {\n  /** Does it.\n   * @tool */\n  async function inner(): Promise<void> {}\n  return inner;\n}\n",
    problems: ["4:18: `inner` has to stand at the top of the file"],
  },
  {
    rule: "it has no name",
    source: tool("export default async function (): Promise<void> {}"),
    problems: ["4:1: a tool's function needs a name"],
  },
  {
    rule: "it is a generator",
    source: tool("export async function* f(): AsyncGenerator<string> {}"),
    problems: [
      "4:24: `f` cannot be a generator",
      "4:29: `result` has the type `AsyncGenerator<string, any, any>`, which has no schema",
    ],
  },
  {
    rule: "it has overloads",
    source: tool(
      "export async function f(a: string): Promise<void>;\nexport async function f(a: number): Promise<void>;\nexport async function f(a: unknown): Promise<void> {}",
    ),
    problems: ["4:23: `f` cannot have overloads"],
  },
  {
    rule: "a parameter is destructured",
    source: taking("{ a }: { a: string }, [b]: string[]"),
    problems: [
      "4:25: a parameter cannot be destructured: give it a name",
      "4:47: a parameter cannot be destructured: give it a name",
    ],
  },
  {
    rule: "a parameter takes the rest",
    source: taking("...all: string[]"),
    problems: ["4:25: `all` cannot be a rest parameter: take an array"],
  },
  {
    rule: "a parameter is called __proto__",
    source: taking("__proto__: string"),
    problems: ["4:25: `__proto__` cannot be the name of a parameter"],
  },
  {
    rule: "the context is not last",
    source: taking("context: ToolContext, a: string", 'import type { ToolContext } from "narthex";'),
    problems: ["4:25: `context` has to be the last parameter"],
  },
  {
    rule: "it has no doc comment but the tag",
    source: "/** @tool */\nexport async function f(): Promise<void> {}\n",
    problems: ["2:23: `f` has no description: say in its doc comment what it does"],
  },
  {
    rule: "its name cannot be a tool's",
    source: tool("export async function $f(): Promise<void> {}"),
    problems: ["4:23: the tool's name `$f` must be 1 to 64 of a-z, 0-9 and _, beginning with a letter"],
  },
  {
    rule: "the name in the tag cannot be a tool's",
    source: tagged(" * @tier read_only").replace("@tool", "@tool Read-It"),
    problems: ["2:4: the tool's name `Read-It` must be 1 to 64 of a-z, 0-9 and _, beginning with a letter"],
  },
  {
    rule: "the description stands behind the tag",
    source: "/** @tool\n * Does it. */\nexport async function f(): Promise<void> {}\n",
    problems: [
      "1:5: `@tool` takes a name or nothing: the description stands before the first tag",
      "3:23: `f` has no description: say in its doc comment what it does",
    ],
  },
  {
    rule: "the syntax is wrong",
    source: tool("export async function f(: Promise<void> {}"),
    problems: [
      "4:25: syntax error: Parameter declaration expected.",
      "4:34: syntax error: ',' expected.",
      "4:35: syntax error: Identifier expected. 'void' is a reserved word that cannot be used here.",
      "4:39: syntax error: Parameter declaration expected.",
    ],
  },
  {
    rule: "no function is marked",
    source: "/** Does it. */\nexport async function f(): Promise<void> {}\n",
    problems: ["1:1: no function in it is marked with @tool"],
  },
];

export const WRONG_TAGS: readonly WrongSource[] = [
  {
    rule: "an unknown tier",
    source: tagged(" * @tier readonly"),
    problems: ["3:4: `@tier` takes read_only, side_effecting, privileged, and not `readonly`"],
  },
  {
    rule: "an unknown determinism",
    source: tagged(" * @determinism sometimes"),
    problems: ["3:4: `@determinism` takes pure, deterministic, external, nondeterministic, and not `sometimes`"],
  },
  {
    rule: "unknown effects",
    source: tagged(" * @effects fs_read, disk net"),
    problems: [
      "3:4: `@effects` takes net_read, net_write, fs_read, fs_write, db_read, db_write, process_spawn, env_read, inference, artifact, and not `disk`",
      "3:4: `@effects` takes net_read, net_write, fs_read, fs_write, db_read, db_write, process_spawn, env_read, inference, artifact, and not `net`",
    ],
  },
  { rule: "no effects", source: tagged(" * @effects"), problems: ["3:4: `@effects` names none: leave it out"] },
  {
    rule: "a version that is none",
    source: tagged(" * @version 1.0"),
    problems: ["3:4: version: must be a semantic version such as 1.0.0"],
  },
  {
    rule: "two tiers",
    source: tagged(" * @tier read_only\n * @tier privileged"),
    problems: ["4:4: `@tier` is there twice"],
  },
  {
    rule: "a tier of two words",
    source: tagged(" * @tier read_only privileged"),
    problems: ["3:4: `@tier` takes one word"],
  },
  {
    rule: "a tier that contradicts the effects",
    source: tagged(" * @effects fs_write\n * @tier read_only"),
    problems: ["4:4: tier: a read_only tool cannot have the effect fs_write"],
  },
  {
    rule: "a @param for no parameter",
    source: tagged(" * @param b what"),
    problems: ["3:4: `@param` names no parameter: `b`"],
  },
  {
    rule: "an @integer for no parameter",
    source: tagged(" * @integer b"),
    problems: ["3:4: `@integer` names no parameter: `b`"],
  },
  {
    rule: "an @integer that is no number",
    source: tagged(" * @integer a"),
    problems: ["3:4: `@integer`: `a` is no number"],
  },
  {
    rule: "a description with hidden characters",
    source: taking("").replace("Does it", "Does\u200b it"),
    problems: ["4:23: description: holds invisible characters"],
  },
];

export const WRONG_TYPES: readonly WrongSource[] = [
  { rule: "any", source: taking("a: any"), problems: ["4:25: `a` has the type `any`, which has no schema"] },
  {
    rule: "nothing, which is any",
    source: taking("a"),
    problems: ["4:25: `a` has the type `any`, which has no schema"],
  },
  {
    rule: "unknown",
    source: taking("a: unknown"),
    problems: ["4:25: `a` has the type `unknown`, which has no schema"],
  },
  {
    rule: "never, object, {} and symbol",
    source: taking("a: never, b: object, c: {}, d: symbol"),
    problems: [
      "4:25: `a` has the type `never`, which has no schema",
      "4:35: `b` has the type `object`, which has no schema",
      "4:46: `c` has the type `{}`, which has no schema",
      "4:53: `d` has the type `symbol`, which has no schema",
    ],
  },
  {
    rule: "a type that does not exist",
    source: taking("a: Nothing, b: Buffer"),
    problems: ["4:25: `a` has a type that cannot be found", "4:37: `b` has a type that cannot be found"],
  },
  {
    rule: "functions",
    source: taking("a: () => void, b: { call(): void }, c: { made: new () => object }"),
    problems: [
      "4:25: `a` has the type `() => void`, which has no schema",
      "4:40: `b.call` is a method, which has no schema",
      "4:61: `c.made` has the type `new () => object`, which has no schema",
    ],
  },
  {
    rule: "what the language brings",
    source: taking("a: Date, b: Map<string, string>, c: Uint8Array, d: Promise<string>, e: RegExp"),
    problems: [
      "4:25: `a` has the type `Date`, which has no schema",
      "4:34: `b` has the type `Map<string, string>`, which has no schema",
      "4:58: `c` has the type `Uint8Array<ArrayBufferLike>`, which has no schema",
      "4:73: `d` has the type `Promise<string>`, which has no schema",
      "4:93: `e` has the type `RegExp`, which has no schema",
    ],
  },
  {
    rule: "a class",
    source: taking("a: C", "class C { x = 1; }"),
    problems: ["4:25: `a` has the type `C`, which has no schema"],
  },
  {
    rule: "an enum",
    source: taking("a: E, b: E.A | null", "enum E { A, B }"),
    problems: [
      "4:25: `a` has the type `E`, an enum: use a union of literals",
      "4:31: `b` has the type `E.A`, an enum: use a union of literals",
    ],
  },
  {
    rule: "a tuple",
    source: taking("a: [string, number]"),
    problems: ["4:25: `a` has the type `[string, number]`, a tuple: use an array or an object"],
  },
  {
    rule: "a union of types",
    source: taking("a: string | number, b: { x: string } | { y: string }, c: 'x' | number"),
    problems: [
      "4:25: `a` has the type `string | number`, a union of more than literals, null and one other type",
      "4:45: `b` has the type `{ x: string; } | { y: string; }`, a union of more than literals, null and one other type",
      '4:79: `c` has the type `number | "x"`, a union of more than literals, null and one other type',
    ],
  },
  {
    rule: "undefined",
    source: taking("a: string | undefined, b: undefined, c: (string | undefined)[]"),
    problems: [
      "4:25: `a` may be undefined, which JSON cannot say: make it null, or optional with `?`",
      "4:48: `b` may be undefined, which JSON cannot say",
      "4:62: `c[]` may be undefined, which JSON cannot say: make it null, or optional with `?`",
    ],
  },
  {
    rule: "a bigint literal and a pattern of text",
    source: taking("a: 1n, b: `x${string}`"),
    problems: [
      "4:25: `a` has the type `1n`, which has no schema",
      "4:32: `b` has the type ` x${string} `, which has no schema",
    ],
  },
  {
    rule: "an intersection of more than plain objects",
    source: taking("a: { x: string } & Date, b: string & { brand: true }"),
    problems: [
      "4:25: `a` has the type `{ x: string; } & Date`, which has no schema",
      "4:50: `b` has the type `string & { brand: true; }`, which has no schema",
    ],
  },
  {
    rule: "a record with fields, or by number",
    source: taking(
      "a: { x: string; [key: string]: string }, b: Record<number, string>, c: { x: string } & Record<string, string>",
    ),
    problems: [
      "4:25: `a` has the type `{ [key: string]: string; x: string; }`, which has no schema",
      "4:66: `b` has the type `Record<number, string>`, which has no schema",
      "4:93: `c` has the type `{ x: string; } & Record<string, string>`, which has no schema",
    ],
  },
  {
    rule: "a type that refers to itself",
    source: taking("a: Tree, b: Json", "interface Tree { children: Tree[] }\ntype Json = string | null | Json[];"),
    problems: [
      "5:25: `a.children[]` has the type `Tree`, which refers to itself",
      "5:34: `b` has the type `Json`, a union of more than literals, null and one other type",
    ],
  },
  {
    rule: "a type that never ends",
    source: taking("a: Deep<string>", "interface Deep<T> { next: Deep<T[]> }"),
    problems: [
      "4:25: `a.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next` is nested deeper than 24 levels",
    ],
  },
  {
    rule: "a type that doubles at each level",
    source: taking(
      "a: T11",
      [
        "type T0 = { v: string };",
        ...Array.from({ length: 11 }, (_, level) => `type T${level + 1} = { a: T${level}; b: T${level} };`),
      ].join(" "),
    ),
    problems: ["4:25: `a.a.b.a.b.a.a.b.b.a.a.a.v` has more than 2000 parts"],
  },
  {
    rule: "a part deep inside",
    source: taking("a: { rows?: readonly { at: Date }[]; table: Record<string, () => void> }"),
    problems: [
      "4:25: `a.rows[].at` has the type `Date`, which has no schema",
      "4:25: `a.table[*]` has the type `() => void`, which has no schema",
    ],
  },
  {
    rule: "names that JSON cannot hold",
    source: taking("a: { __proto__: string; [Symbol.iterator]: string }"),
    problems: [
      "4:25: `a.__proto__` has a name that JSON cannot hold",
      "4:25: `a[symbol]` has a name that JSON cannot hold",
    ],
  },
  {
    rule: "a field marked @integer that is text",
    source: taking("a: {\n  /** @integer */ x: string }"),
    problems: ["4:25: `a.x` is marked @integer and is no number"],
  },
  {
    rule: "a result that is any",
    source: tool("export async function f() { return JSON.parse('1'); }"),
    problems: ["4:23: `result` has the type `any`, which has no schema"],
  },
  {
    rule: "a result with a bigint",
    source: answering("{ n: bigint }"),
    problems: ["4:28: `result.n` is a bigint, which JSON cannot say: answer a number or a string"],
  },
  {
    rule: "a result of bytes",
    source: answering("Uint8Array"),
    problems: ["4:28: `result` has the type `Uint8Array<ArrayBufferLike>`, which has no schema"],
  },
  {
    rule: "a result that may be undefined",
    source: answering("string | undefined"),
    problems: ["4:28: `result` may be undefined, which JSON cannot say: make it null, or optional with `?`"],
  },
];
