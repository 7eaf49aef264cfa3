import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, ToolErrorSchema, toBinary, utf8 } from "@narthex/contracts";
import { parseErrorBody, parseStreamEnd } from "./service-error.ts";

describe("parseErrorBody", () => {
  it("accepts bodies that are not an error", () => {
    for (const body of ["", "<html>", "[]", "null", '{"code":7}', '{"code":"internal","details":[null,{"type":3}]}']) {
      const error = parseErrorBody(502, utf8(body));
      assert.match(error.code, /^(KERNEL_UNREACHABLE|INTERNAL)$/, body);
      assert.match(error.message, /HTTP status 502/, body);
    }
  });

  it("ignores codes that the kernel does not have", () => {
    const value = Buffer.from(toBinary(ToolErrorSchema, create(ToolErrorSchema, { errorCode: "MADE_UP" })));
    const details = [{ type: "narthex.v1.ToolError", value: value.toString("base64") }];
    const error = parseErrorBody(400, utf8(JSON.stringify({ code: "invalid_argument", message: "no", details })));
    assert.equal(error.code, "INVALID_REQUEST");
  });

  it("returns the kernel's own code, message and violations", () => {
    const violations = [{ field: "ttl_ms", rule: "range", message: "too long" }];
    const detail = create(ToolErrorSchema, { errorCode: "LEASE_INVALID", message: "narrow it", violations });
    const value = Buffer.from(toBinary(ToolErrorSchema, detail)).toString("base64").replace(/=+$/, "");
    const details = [{ type: "narthex.v1.ToolError", value }];
    const error = parseErrorBody(
      400,
      utf8(JSON.stringify({ code: "invalid_argument", message: "narrow it", details })),
    );
    assert.equal(error.code, "LEASE_INVALID");
    assert.equal(error.message, "narrow it");
    assert.equal(error.violations[0]?.field, "ttl_ms");
  });

  it("translates errors of the protocol itself", () => {
    const error = parseErrorBody(401, utf8('{"code":"unauthenticated","message":"no token"}'));
    assert.deepEqual([error.code, error.message], ["TOKEN_INVALID", "no token"]);
  });
});

describe("parseStreamEnd", () => {
  it("finds no error in a normal end", () => {
    assert.equal(parseStreamEnd(utf8("{}")), undefined);
    assert.equal(parseStreamEnd(utf8('{"metadata":{}}')), undefined);
  });

  it("treats an unreadable end as an error", () => {
    assert.equal(parseStreamEnd(utf8("{"))?.code, "KERNEL_UNREACHABLE");
    assert.equal(parseStreamEnd(utf8('{"error":{"code":"canceled"}}'))?.code, "CANCELLED");
  });
});
