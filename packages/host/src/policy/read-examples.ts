import { canonicalJson, JsonSyntaxError, type JsonValue, JsonValueError, parseJson } from "@narthex/contracts";
import { type Capability, canonicalHost, nearestName, type PolicyFile, quoteText } from "@narthex/kernel";
import { CST, isMap, isScalar, isSeq, Lexer, type Node, type Pair, parseDocument } from "yaml";
import { EXPECTED_DECISIONS, type ExpectedDecision, type PolicyExample } from "./examples.ts";
import { createFilePositions } from "./file-positions.ts";
import { createPolicyProblems, type PolicyProblems } from "./policy-problems.ts";
import { readExampleFiles } from "./read-policy-directory.ts";

const KEYS = ["tool", "input", "labels", "hosts", "rule", "code"] as const;
type Key = (typeof KEYS)[number];

const MAX_TOKENS = 100_000;
const MAX_DEPTH = 64;
const MARKS: ReadonlySet<string> = new Set([CST.BOM, CST.DOCUMENT, CST.FLOW_END, CST.SCALAR]);
const SHORT_FORM = /^([a-z][a-z0-9_]{0,63})(?:\s+([\s\S]+))?$/;

/**
 * Reads the examples of a directory, in order of its files. Throws POLICY_INVALID with every problem and its position.
 */
export async function readExamples(directory: string): Promise<PolicyExample[]> {
  return parseExamples(await readExampleFiles(directory));
}

export function parseExamples(files: readonly PolicyFile[]): PolicyExample[] {
  const problems = createPolicyProblems();
  const examples = files.flatMap((file) => readFile(file, problems));
  problems.throwIfAny();
  return examples;
}

function readFile(file: PolicyFile, problems: PolicyProblems): PolicyExample[] {
  const places = createFilePositions(file);
  const refuse = (offset: number, message: string): void => problems.add(places.format(offset), "malformed", message);
  const excess = findExcess(file.text);
  if (excess !== undefined) {
    refuse(excess, "is more than examples can need: too many values or too deeply nested");
    return [];
  }
  const document = parseDocument(file.text, {
    prettyErrors: false,
    // Explicit, so that a `%YAML 1.1` line does not turn `yes` into true and `1:30` into 90.
    schema: "core",
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
  });
  for (const { pos, message } of [...document.errors, ...document.warnings]) refuse(pos[0], `is not YAML: ${message}`);
  if (document.errors.length > 0 || document.contents === null) return [];
  return new ExampleReader(file, refuse, (offset) => places.at(offset).line).read(document.contents);
}

/** SECURITY: a megabyte of brackets keeps the parser busy for half a minute, so tokens are counted first. */
function findExcess(text: string): number | undefined {
  let tokens = 0;
  let depth = 0;
  let offset = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const type = CST.tokenType(lexeme);
    if (type === "flow-seq-start" || type === "flow-map-start") depth++;
    if (type === "flow-seq-end" || type === "flow-map-end") depth--;
    if (type !== "space" && ++tokens > MAX_TOKENS) return offset;
    if (depth > MAX_DEPTH) return offset;
    // The lexer inserts marks of its own between the pieces of text.
    if (!MARKS.has(lexeme)) offset += lexeme.length;
  }
  return undefined;
}

/** Reads the examples of one file. Rejects unknown content with its position. */
class ExampleReader {
  readonly #file: PolicyFile;
  readonly #refuse: (offset: number, message: string) => void;
  readonly #lineAt: (offset: number) => number;

  constructor(file: PolicyFile, refuse: (offset: number, message: string) => void, lineAt: (offset: number) => number) {
    this.#file = file;
    this.#refuse = refuse;
    this.#lineAt = lineAt;
  }

  read(root: Node): PolicyExample[] {
    if (!isMap(root)) return this.#none(root, "must have the tables `allow`, `ask` and `deny`, or some of them");
    return root.items.flatMap((pair) => {
      const expected = this.#name(pair, EXPECTED_DECISIONS, "a table");
      return expected === undefined ? [] : this.#table(pair, expected);
    });
  }

  #table({ key, value }: Pair, expected: ExpectedDecision): PolicyExample[] {
    // A key without a value: an empty list.
    if (isScalar(value) && value.value === null) return [];
    if (!isSeq(value)) return this.#none(value ?? key, `\`${expected}\` must be a list of calls`);
    return value.items.flatMap((item) => this.#example(item as Node, expected));
  }

  #example(node: Node, expected: ExpectedDecision): PolicyExample[] {
    if (isScalar(node) && typeof node.value === "string") return this.#short(node, node.value, expected);
    if (!isMap(node)) return this.#none(node, 'must be `{tool: NAME, input: ...}` or a text such as `echo {"a": 1}`');
    const found = new Map<Key, Node>();
    for (const pair of node.items) {
      const key = this.#name(pair, KEYS, "a key");
      if (key !== undefined) found.set(key, (pair.value ?? pair.key) as Node);
    }
    const tool = this.#text(found.get("tool"));
    if (tool === undefined) return this.#none(node, "`tool` must be given");
    const input = found.get("input");
    return [
      this.#made(node, expected, {
        tool,
        input: input === undefined ? {} : this.#json(input),
        labels: this.#texts(found.get("labels")),
        capabilities: this.#rights(found.get("hosts")),
        rule: this.#text(found.get("rule")),
        code: this.#text(found.get("code")),
      }),
    ];
  }

  #short(node: Node, text: string, expected: ExpectedDecision): PolicyExample[] {
    const [, tool, json = "{}"] = SHORT_FORM.exec(text) ?? [];
    if (tool === undefined) return this.#none(node, 'must be a tool and its input, such as `echo {"a": 1}`');
    try {
      const rest = { tool, input: parseJson(json), labels: [], capabilities: [], rule: undefined, code: undefined };
      return [this.#made(node, expected, rest)];
    } catch (fault) {
      if (!(fault instanceof JsonSyntaxError)) throw fault;
      return this.#none(node, `the input is not JSON: ${fault.message}`);
    }
  }

  #made(
    node: Node,
    expected: ExpectedDecision,
    rest: Omit<PolicyExample, "expected" | "file" | "line">,
  ): PolicyExample {
    return { expected, ...rest, file: this.#file.name, line: this.#lineAt(offsetOf(node)) };
  }

  #name<T extends string>({ key }: Pair, known: readonly T[], what: string): T | undefined {
    const text = isScalar(key) ? String(key.value) : "";
    const name = known.find((candidate) => candidate === text);
    if (name !== undefined) return name;
    const nearest = nearestName(text, known);
    const hint = nearest === undefined ? `; known are ${known.join(", ")}` : `; did you mean ${nearest}?`;
    this.#refuse(offsetOf(key as Node), `${quoteText(text)} is not ${what}${hint}`);
    return undefined;
  }

  #text(node: Node | undefined): string | undefined {
    if (node === undefined) return undefined;
    if (isScalar(node) && typeof node.value === "string" && node.value !== "") return node.value;
    this.#refuse(offsetOf(node), "must be text");
    return undefined;
  }

  #texts(node: Node | undefined): string[] {
    if (node === undefined) return [];
    if (isSeq(node)) return node.items.map((item) => this.#text(item as Node) ?? "");
    this.#refuse(offsetOf(node), "must be a list of texts");
    return [];
  }

  /** Grants reading from and sending to the hosts on every port. */
  #rights(node: Node | undefined): Capability[] {
    const given = this.#texts(node).filter((text) => text !== "");
    const hosts = given.flatMap((text) => {
      const host = canonicalHost(text);
      return host === undefined ? this.#none(node, `${quoteText(text)} is no host`) : [{ host }];
    });
    if (hosts.length === 0) return [];
    return [
      { kind: "net_read", hosts },
      { kind: "net_write", hosts },
    ];
  }

  /**
   * Converts a node to JSON. Rejects aliases, so that they cannot multiply content, and values that JSON cannot
   * express.
   */
  #json(node: Node): JsonValue {
    if (isMap(node)) {
      const members = node.items.map(({ key, value }): [string, JsonValue] => [
        isScalar(key) ? String(key.value) : "",
        value === null ? null : this.#json(value as Node),
      ]);
      return Object.fromEntries(members);
    }
    if (isSeq(node)) return node.items.map((item) => this.#json(item as Node));
    if (isScalar(node) && isJsonScalar(node.value)) return node.value;
    this.#refuse(offsetOf(node), "is nothing that JSON can say");
    return null;
  }

  #none(node: unknown, message: string): [] {
    this.#refuse(offsetOf(node as Node), message);
    return [];
  }
}

function isJsonScalar(value: unknown): value is JsonValue {
  try {
    canonicalJson(value);
    return value === null || ["string", "number", "boolean"].includes(typeof value);
  } catch (fault) {
    if (fault instanceof JsonValueError) return false;
    throw fault;
  }
}

function offsetOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0;
}
