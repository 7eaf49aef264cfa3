import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, describe, test } from "node:test";
import { type DescMessage, fromJson, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import {
  AdminService,
  compileEncoder,
  create,
  decode,
  decodeResponse,
  encode,
  encodeResponse,
  fromBinary,
  KernelService,
  RecordSchema,
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
  ToolResponseSchema,
  toBinary,
} from "@narthex/contracts";
import * as fc from "fast-check";
import { RUNS_ALL } from "../sampled.ts";
import { type AnyInit, anyMessage } from "./any-message.ts";
import { compileProto } from "./compile-proto.ts";
import { startPython } from "./start-python.ts";

const VALUES = RUNS_ALL ? 200 : 80;
const SEED = 20_260_711;
const FILES = [ToolRequestSchema.file, KernelService.file, RecordSchema.file, AdminService.file];
const SCHEMAS = FILES.flatMap((file) => file.messages);
/**
 * With an `optional` number, or a list of numbers, which the compiled encoder refuses; written by protobuf-es on both sides
 * of our wire.
 */
const NOT_COMPILED = [
  "TailLedgerRequest",
  "VerifyResponse",
  "VerifyReport",
  "VerifiedLog",
  "ReplayResponse",
  "EraseContentResponse",
  "CollectContentRequest",
];

const modules = compileProto();
const python = startPython("codec.py", modules);
after(async () => {
  await python.stop();
  rmSync(modules, { recursive: true });
});

test("every message of proto/narthex/v1 is compared", async () => {
  assert.deepEqual(await python.ask({ do: "types" }), SCHEMAS.map(({ name }) => name).sort());
});

describe("each message's values have Python's bytes, and Python reads ours", () => {
  for (const schema of SCHEMAS) {
    test(schema.name, async () => {
      const inits = fc.sample(anyMessage(schema), { numRuns: VALUES, seed: SEED });
      const messages = inits.map((init) => create(schema, init));
      const json = messages.map((message) => toJson(schema, message));
      const encodeAlike = encoderOf(schema);
      const ours = inits.map((init, index) => encodeAlike(init, messages[index] ?? create(schema)));
      const theirs = await python.ask<string[]>({ do: "encode", type: schema.name, values: json });
      for (const [index, bytes] of ours.entries()) {
        assert.equal(hexOf(bytes), hexOf(fromBase64(theirs[index])), JSON.stringify(json[index]));
      }
      const encoded = ours.map((bytes) => Buffer.from(bytes).toString("base64"));
      const read = await python.ask<JsonValue[]>({ do: "decode", type: schema.name, encoded });
      assert.deepEqual(read, json);
      for (const [index, bytes] of ours.entries()) {
        assert.deepEqual(readAlike(schema, bytes), messages[index]);
        assert.deepEqual(fromJson(schema, read[index] ?? null), messages[index]);
      }
    });
  }
});

test("the compiled encoder supports every message except the listed ones", () => {
  const refused = SCHEMAS.filter((schema) => compiledEncoder(schema) === undefined).map(({ name }) => name);
  assert.deepEqual(refused, NOT_COMPILED);
});

/** Gives the bytes of all our ways to encode a message, which must be the same ones. */
function encoderOf(schema: DescMessage): (init: AnyInit, message: Message) => Uint8Array {
  const compiled = compiledEncoder(schema);
  return (init, message) => {
    const bytes = toBinary(schema, message);
    const hex = hexOf(bytes);
    if (compiled !== undefined) {
      assert.equal(hexOf(compiled(message)), hex);
      assert.equal(hexOf(compiled(init)), hex);
    }
    if (schema === ToolRequestSchema) assert.equal(hexOf(encode(message as ToolRequest)), hex);
    if (schema === ToolResponseSchema) assert.equal(hexOf(encodeResponse(message as ToolResponse)), hex);
    return bytes;
  };
}

/** What our ways to decode give, which must be the same. */
function readAlike(schema: DescMessage, bytes: Uint8Array): Message {
  const message = fromBinary(schema, bytes);
  if (schema === ToolRequestSchema) assert.deepEqual(plain(decode(bytes)), plain(message));
  if (schema === ToolResponseSchema) assert.deepEqual(decodeResponse(bytes), message);
  return message;
}

/** Fields are compared as they are written: a strict decoder's message has views for its bytes. */
function plain(message: Message): JsonValue {
  return toJson(ToolRequestSchema, message as ToolRequest);
}

function compiledEncoder(schema: DescMessage): ((message: unknown) => Uint8Array) | undefined {
  try {
    const compiled = compileEncoder<Message>(schema);
    return (message) => compiled(message as Message);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function fromBase64(text: string | undefined): Uint8Array {
  assert.ok(text !== undefined);
  return Buffer.from(text, "base64");
}
