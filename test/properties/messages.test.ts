import assert from "node:assert/strict";
import { test } from "node:test";
import { type DescFile, type DescMessage, fromJson, toJson } from "@bufbuild/protobuf";
import { compileEncoder, fromBinary, toBinary } from "@narthex/contracts";
import * as fc from "fast-check";
import { anyMessage } from "../../campaigns/wire/any-message.ts";
import { Chance } from "../../campaigns/chance/chance.ts";
import { file_narthex_v1_admin as admin } from "../../packages/contracts/src/gen/narthex/v1/admin_pb.js";
import { file_narthex_v1_kernel as kernel } from "../../packages/contracts/src/gen/narthex/v1/kernel_pb.js";
import { file_narthex_v1_ledger as ledger } from "../../packages/contracts/src/gen/narthex/v1/ledger_pb.js";
import { file_narthex_v1_tool as tool } from "../../packages/contracts/src/gen/narthex/v1/tool_pb.js";

const FILES: readonly DescFile[] = [tool, kernel, admin, ledger];

/** What the kernel encodes itself; every other message is encoded by protobuf's own library. */
function encoderOf(schema: DescMessage): ReturnType<typeof compileEncoder> | undefined {
  try {
    return compileEncoder(schema);
  } catch (fault) {
    assert.ok(fault instanceof TypeError, String(fault));
    return undefined;
  }
}

test("there are messages to check", () => {
  assert.ok(FILES.reduce((sum, file) => sum + file.messages.length, 0) > 80);
});

for (const schema of FILES.flatMap((file) => file.messages)) {
  test(`${schema.name} survives its bytes and its JSON, and has one encoding`, () => {
    const encode = encoderOf(schema);
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const bytes = anyMessage(new Chance(seed), schema);
        const message = fromBinary(schema, bytes);
        assert.deepEqual(toBinary(schema, message), bytes);
        assert.deepEqual(fromJson(schema, toJson(schema, message)), message);
        if (encode !== undefined) assert.deepEqual(encode(message), bytes);
      }),
      { numRuns: 40 },
    );
  });
}
