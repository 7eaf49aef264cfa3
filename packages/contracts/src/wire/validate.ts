import { create } from "@bufbuild/protobuf";
import { type ToolRequest, type ValidationError, ValidationErrorSchema } from "../gen/narthex/v1/tool_pb.js";
import { MAX_ID_LEN } from "../limits.ts";
import { checkText, type Report } from "./check-text.ts";
import { checkTool } from "./check-tool.ts";

/**
 * Returns all rules of the wire that a request breaks, in the order of its fields; empty if it is valid.
 *
 * SPEC: docs/formats/wire.md, INV-0001 to INV-0034.
 */
export function validate(request: ToolRequest): ValidationError[] {
  const errors: ValidationError[] = [];
  const report: Report = (field, rule, message) => {
    errors.push(create(ValidationErrorSchema, { field, rule, message }));
  };
  checkText(report, "request_id", request.requestId, REQUIRED_ID); // INV-0001
  checkText(report, "session_token", request.sessionToken, REQUIRED_ID); // INV-0002
  checkText(report, "dedupe_key", request.dedupeKey, OPTIONAL_ID); // INV-0003
  checkTool(report, request.tool);
  return errors;
}

const REQUIRED_ID = { required: true, maxCharacters: MAX_ID_LEN } as const;
const OPTIONAL_ID = { maxCharacters: MAX_ID_LEN } as const;
