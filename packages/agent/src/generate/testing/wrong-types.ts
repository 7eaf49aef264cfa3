import { answering, taking, tool, type WrongSource } from "./wrong-source.ts";

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
    rule: "a generic class, a class in a variable, and what one is together with",
    source: taking(
      "a: Box<string>, b: InstanceType<typeof Made>, c: Box<string> & { y: string }",
      "class Box<T> { #hidden = 1; private own = 2; value!: T; get size() { return this.#hidden + this.own; } }\nconst Made = class { x = 1; };",
    ),
    problems: [
      "5:25: `a` has the type `Box<string>`, which has no schema",
      "5:41: `b` has the type `Made`, which has no schema",
      "5:71: `c` has the type `Box<string> & { y: string; }`, which has no schema",
    ],
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
    rule: "a result that nobody wrote down, of what is not read",
    source: tool(
      "export async function f(context: ToolContext) { return { home: process.cwd(), id: context.requestId }; }",
      'import type { ToolContext } from "narthex";',
    ),
    problems: [
      "4:23: `result.home` has a type that cannot be found: write the type of the result",
      "4:23: `result.id` has a type that cannot be found: write the type of the result",
    ],
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
