import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { after, test } from "node:test";
import { compileProto, PROTO, PROTOC } from "./compile-proto.ts";
import { startPython } from "./start-python.ts";

type Fields = { readonly [name: string]: FieldValue };
type FieldValue = string | number | boolean | readonly FieldValue[] | Fields | { readonly hex: string };
interface Frozen {
  readonly name: string;
  readonly hex: string;
}

/**
 * Bytes that are refused here and taken by protoc: what it makes of them could be another request than what a checker
 * on the way saw. The rest of the refused requests it refuses too.
 */
const TAKEN_BY_PROTOC: ReadonlyMap<string, string> = new Map([
  ["an unknown field", "kept aside: whoever reads it might know it"],
  ["an unknown field of a variant", "kept aside likewise"],
  ["a field given twice", "the last one counts"],
  ["two variants", "the last one counts"],
  ["a group", "an unknown field like others"],
  ["a wrong wire type", "an unknown field like others"],
  ["a bool of 2", "whatever is not 0 is true"],
]);

const modules = compileProto();
const python = startPython("codec.py", modules);
after(async () => {
  await python.stop();
  rmSync(modules, { recursive: true });
});

const { requests, other_spellings, refused } = read<{
  requests: (Frozen & { fields: Fields })[];
  other_spellings: (Frozen & { canonical: string })[];
  refused: Frozen[];
}>("encoding/requests.json");
const { rows } = read<{ rows: { index: number; record: string; content: string }[] }>("chain/ledger.json");

test("frozen requests are decoded by protoc --decode, and its output is encoded to the same bytes again", () => {
  for (const { name, hex } of requests) {
    const text = protocDecode("tool", "ToolRequest", hex);
    assert.equal(protocEncode("tool", "ToolRequest", text), hex, name);
  }
});

test("the output of protoc for frozen requests shows their fields", async () => {
  const texts = requests.map(({ hex }) => protocDecode("tool", "ToolRequest", hex));
  const values = requests.map(({ fields }) => jsonOf(fields));
  const frozen = requests.map(({ hex }) => Buffer.from(hex, "hex").toString("base64"));
  assert.deepEqual(await python.ask({ do: "encode_text", type: "ToolRequest", texts }), frozen);
  assert.deepEqual(await python.ask({ do: "encode", type: "ToolRequest", values }), frozen);
});

test("other spellings mean the same to protoc as here", () => {
  for (const { name, hex, canonical } of other_spellings) {
    assert.equal(protocEncode("tool", "ToolRequest", protocDecode("tool", "ToolRequest", hex)), canonical, name);
  }
});

test("protoc and Python reject the rejected requests, or the reason why they accept them is documented", async () => {
  const takenByPython = await python.ask<boolean[]>({
    do: "takes",
    type: "ToolRequest",
    encoded: refused.map(({ hex }) => Buffer.from(hex, "hex").toString("base64")),
  });
  const taken = refused.filter(({ hex }) => isDecoded("tool", "ToolRequest", hex)).map(({ name }) => name);
  assert.deepEqual(taken.sort(), [...TAKEN_BY_PROTOC.keys()].sort());
  assert.deepEqual(
    refused.filter((_, index) => takenByPython[index]).map(({ name }) => name),
    refused.filter(({ name }) => TAKEN_BY_PROTOC.has(name)).map(({ name }) => name),
  );
});

test("the frozen ledger's records and contents are decoded by protoc and encoded to the same bytes again", () => {
  for (const { index, record, content } of rows) {
    assert.equal(protocEncode("ledger", "Record", protocDecode("ledger", "Record", record)), record, `record ${index}`);
    const again = protocEncode("ledger", "RecordContent", protocDecode("ledger", "RecordContent", content));
    assert.equal(again, content, `content ${index}`);
  }
});

function protocDecode(file: string, type: string, hex: string): string {
  return execFileSync(PROTOC, decodeArguments(file, type), { input: Buffer.from(hex, "hex"), encoding: "utf8" });
}

function isDecoded(file: string, type: string, hex: string): boolean {
  return spawnSync(PROTOC, decodeArguments(file, type), { input: Buffer.from(hex, "hex") }).status === 0;
}

function decodeArguments(file: string, type: string): string[] {
  return ["-I", PROTO, `--decode=narthex.v1.${type}`, `narthex/v1/${file}.proto`];
}

function protocEncode(file: string, type: string, text: string): string {
  // What is not a field of the message is printed by its number, and then cannot be read back.
  return execFileSync(PROTOC, ["-I", PROTO, `--encode=narthex.v1.${type}`, "--deterministic_output", protoFile(file)], {
    input: text,
  }).toString("hex");
}

function protoFile(name: string): string {
  return `narthex/v1/${name}.proto`;
}

/** In proto JSON bytes are base64. */
function jsonOf(value: FieldValue): unknown {
  if (typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(jsonOf);
  if ("hex" in value && typeof value.hex === "string") return Buffer.from(value.hex, "hex").toString("base64");
  return Object.fromEntries(Object.entries(value as Fields).map(([name, field]) => [name, jsonOf(field)]));
}

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), "utf8")) as T;
}
