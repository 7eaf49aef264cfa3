import assert from "node:assert/strict";
import { test } from "node:test";
import { runInThisContext } from "node:vm";
import { createFileRegistry, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { AdminService, KernelService, RecordSchema, ToolRequestSchema, ToolResponseSchema } from "@narthex/contracts";
import { messageLiteral } from "../../scripts/build/message-literal.ts";

function remake(proto: FileDescriptorProto): FileDescriptorProto {
  return runInThisContext(`(${messageLiteral(proto)})`) as FileDescriptorProto;
}

test("a file descriptor written as code has the same encoding", () => {
  for (const { file } of [ToolRequestSchema, KernelService, AdminService, RecordSchema]) {
    assert.deepEqual(
      toBinary(FileDescriptorProtoSchema, remake(file.proto)),
      toBinary(FileDescriptorProtoSchema, file.proto),
      file.name,
    );
  }
});

test("messages it describes have the same fields, defaults and presence", () => {
  const registry = createFileRegistry(remake(ToolRequestSchema.file.proto), () => undefined);
  for (const schema of [ToolRequestSchema, ToolResponseSchema]) {
    const remade = registry.getMessage(schema.typeName);
    assert.ok(remade !== undefined);
    assert.deepEqual(describeFields(remade), describeFields(schema));
  }
});

test("rejects a value that is not part of a descriptor", () => {
  assert.throws(() => messageLiteral({ value: 1n }), /cannot be written as code: 1/);
});

function describeFields({ fields }: DescMessage): unknown[] {
  return fields.map(({ number, localName, jsonName, fieldKind, presence, oneof, scalar }) => {
    return { number, localName, jsonName, fieldKind, presence, scalar, oneof: oneof?.localName };
  });
}
