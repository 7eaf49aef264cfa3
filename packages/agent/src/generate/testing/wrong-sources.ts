import { tagged, taking, tool, type WrongSource } from "./wrong-source.ts";

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
    rule: "it is a function in an object",
    source: "export const all = { /** Does it. @tool */ f: async (): Promise<void> => {} };\n",
    problems: ["1:22: `@tool` belongs to a function: write `export async function`"],
  },
  {
    rule: "the mark is not in its last doc comment, or before nothing",
    source: `${tool("export async function marked(): Promise<void> {}")}/** Does it.\n * @tool */\n/** Other. */\nexport async function g(): Promise<void> {}\nexport function h() { return 1; /** @tool */ }\n/** Has no \`@tool\`, nor {@tools}. */\n`,
    problems: [
      "5:1: `@tool` belongs to a function: write `export async function`",
      "9:33: `@tool` belongs to a function: write `export async function`",
    ],
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
  {
    rule: "a misspelt tag",
    source: tagged(" * @effect fs_write\n * @teir privileged\n * @Version 2.0.0\n * @todo more\n * @security none"),
    problems: [
      "3:4: `@effect` says nothing of a tool: did you mean `@effects`?",
      "4:4: `@teir` says nothing of a tool: did you mean `@tier`?",
      "5:4: `@Version` says nothing of a tool: did you mean `@version`?",
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
