import assert from "node:assert/strict";
import type { DescMessage } from "@bufbuild/protobuf";
import {
  canonicalJson,
  DecodeError,
  decode,
  decodeResponse,
  encode,
  encodeResponse,
  equalBytes,
  fromBinary,
  JsonSyntaxError,
  parseJson,
  peekRequestHead,
  RecordContentSchema,
  RecordSchema,
  RULES,
  toBinary,
  ToolRequestSchema,
  ToolResponseSchema,
  validate,
} from "@narthex/contracts";
import { decodeContent, decodeRecord } from "../../packages/verify/src/ledger-messages.ts";
import { Malformed } from "../../packages/verify/src/wire/decode-canonical.ts";
import type { Chance } from "../chance/chance.ts";
import { anyJson } from "../json/any-json.ts";
import { mutateJson } from "../json/mutate-json.ts";
import { spellJson } from "../json/spell-json.ts";
import { anyMessage } from "../wire/any-message.ts";
import { mutateMessage } from "../wire/mutate-message.ts";
import { isStrict } from "./is-strict.ts";

/** A reader of bytes from outside, with what must hold for whatever it is given. */
export interface DecoderUnderTest {
  readonly name: string;
  make(chance: Chance): Uint8Array;
  mutate(chance: Chance, bytes: Uint8Array, other: Uint8Array): Uint8Array;
  /** Throws where something does not hold; gives in a word or two what became of the input. */
  check(input: Uint8Array): string;
}

const MOST_VIOLATIONS = 101;
const KNOWN_RULES: ReadonlySet<string> = new Set(RULES);

const request: DecoderUnderTest = {
  name: "ToolRequest",
  make: (chance) => anyMessage(chance, ToolRequestSchema),
  mutate: mutateMessage,
  check(input) {
    const again = reencode(ToolRequestSchema, input);
    const head = peekRequestHead(input);
    const decoded = orError(DecodeError, () => decode(input));
    if (decoded instanceof DecodeError) {
      assertReasons(decoded);
      assert.ok(again === undefined || !equalBytes(again, input), "canonical bytes were refused");
      return "refused";
    }
    assert.ok(isStrict(ToolRequestSchema, input), "a field that is unknown or given twice was let pass");
    const canonical = encode(decoded);
    assert.deepEqual(
      Buffer.from(canonical),
      Buffer.from(again ?? "none"),
      "protobuf's own library reads something else",
    );
    assert.deepEqual(encode(decode(canonical)), canonical, "the canonical form is not its own");
    if (head?.requestId !== undefined) assert.equal(head.requestId, decoded.requestId, "the head has another id");
    if (head?.sessionToken !== undefined) assert.equal(head.sessionToken, decoded.sessionToken, "another token");
    const broken = validate(decoded);
    for (const { rule } of broken) assert.ok(KNOWN_RULES.has(rule), `rule ${rule} is not in the list`);
    const spelling = equalBytes(canonical, input) ? "canonical" : "other spelling";
    return `accepted, ${spelling}, ${broken.length === 0 ? "valid" : "breaks rules of fields"}`;
  },
};

const response: DecoderUnderTest = {
  name: "ToolResponse",
  make: (chance) => anyMessage(chance, ToolResponseSchema),
  mutate: mutateMessage,
  check(input) {
    const decoded = orError(DecodeError, () => decodeResponse(input));
    if (decoded instanceof DecodeError) {
      assertReasons(decoded);
      return "refused";
    }
    const canonical = encodeResponse(decoded);
    assert.deepEqual(encodeResponse(decodeResponse(canonical)), canonical, "the canonical form is not its own");
    return `accepted, ${equalBytes(canonical, input) ? "canonical" : "other spelling"}`;
  },
};

/** A reader that takes one encoding only. */
function canonicalReader(name: string, schema: DescMessage, read: (bytes: Uint8Array) => unknown): DecoderUnderTest {
  return {
    name,
    make: (chance) => anyMessage(chance, schema),
    mutate: mutateMessage,
    check(input) {
      const decoded = read(input);
      if (decoded instanceof Malformed) {
        assert.match(decoded.reason, /^[^\n]{1,300}$/);
        return "refused";
      }
      const again = reencode(schema, input);
      assert.ok(again !== undefined && equalBytes(again, input), "accepted, and encodes again to other bytes");
      return "accepted, canonical";
    },
  };
}

const json: DecoderUnderTest = {
  name: "JSON",
  make: (chance) => Buffer.from(spellJson(chance, anyJson(chance))),
  mutate: mutateJson,
  check(input) {
    const value = orError(JsonSyntaxError, () => parseJson(input));
    if (value instanceof JsonSyntaxError) {
      assert.ok(KNOWN_RULES.has(value.rule), `rule ${value.rule} is not in the list`);
      return "refused";
    }
    const text = Buffer.from(input).toString("utf8");
    assert.ok(equalBytes(Buffer.from(text), input), "accepted bytes that are not UTF-8");
    const form = canonicalJson(value);
    const lenient = JSON.parse(text, (_, item: unknown) => (item === 0 ? 0 : item)) as unknown;
    assert.equal(canonicalJson(lenient), form, "JSON.parse reads another value");
    assert.equal(canonicalJson(parseJson(form)), form, "the canonical form is not its own");
    return `accepted, ${form === text ? "canonical" : "other spelling"}`;
  },
};

export const DECODERS: readonly DecoderUnderTest[] = [
  request,
  response,
  canonicalReader("Record", RecordSchema, decodeRecord),
  canonicalReader("RecordContent", RecordContentSchema, decodeContent),
  json,
];

/** What was read, or the one error that its reader may throw. */
function orError<T, E extends Error>(type: abstract new (...words: never[]) => E, read: () => T): T | E {
  try {
    return read();
  } catch (fault) {
    if (!(fault instanceof type)) throw fault;
    return fault;
  }
}

function assertReasons(refusal: DecodeError): void {
  assert.equal(refusal.code, "INVALID_REQUEST");
  assert.ok(refusal.violations.length > 0 && refusal.violations.length <= MOST_VIOLATIONS, "no reason, or too many");
}

/** By protobuf's own library, with every field that it does not know left out; undefined if it cannot be read. */
function reencode(schema: DescMessage, bytes: Uint8Array): Uint8Array | undefined {
  try {
    return toBinary(schema, fromBinary(schema, bytes), { writeUnknownFields: false });
  } catch {
    return undefined;
  }
}
