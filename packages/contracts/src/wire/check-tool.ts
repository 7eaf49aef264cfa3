import type {
  ArtifactPublish,
  CancelRequest,
  FileEdit,
  FileRead,
  FileWrite,
  GitOperation,
  InferenceCall,
  ShellExec,
  ToolCall,
  ToolRequest,
} from "../gen/narthex/v1/tool_pb.js";
import {
  HASH_SIZE,
  MAX_ARG_LEN,
  MAX_CALL_INPUT_BYTES,
  MAX_COMMAND_LEN,
  MAX_EDIT_SIZE,
  MAX_ID_LEN,
  MAX_PATH_LEN,
  MAX_READ_LIMIT,
  MAX_REPEATED_ITEMS,
  MAX_TIMEOUT_MS,
  MAX_TOKENS,
  MAX_WRITE_SIZE,
} from "../limits.ts";
import { checkText, type Report, type TextRules } from "./check-text.ts";

/** The operations of the `git` tool. */
export const GIT_OPERATIONS = [
  "CLONE",
  "FETCH",
  "PULL",
  "DIFF",
  "COMMIT",
  "PUSH",
  "STATUS",
  "LOG",
  "BRANCH",
  "CHECKOUT",
  "MERGE",
  "REBASE",
  "ADD",
  "RESET",
  "STASH",
  "TAG",
  "REMOTE",
  "SHOW",
] as const;

const KNOWN_OPERATIONS: ReadonlySet<string> = new Set(GIT_OPERATIONS);

const MAX_UINT32 = 0xffff_ffff;
const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;
const ID: TextRules = { required: true, maxCharacters: MAX_ID_LEN };
const PATH: TextRules = { required: true, maxCharacters: MAX_PATH_LEN, noNul: true, noTraversal: true };
const CWD: TextRules = { maxCharacters: MAX_PATH_LEN, noNul: true, noTraversal: true };
const COMMAND: TextRules = { required: true, maxBytes: MAX_COMMAND_LEN, noNul: true };
const OLD_CONTENT: TextRules = { required: true, maxBytes: MAX_EDIT_SIZE };
const NEW_CONTENT: TextRules = { maxBytes: MAX_EDIT_SIZE };
const ARGUMENT: TextRules = { maxBytes: MAX_ARG_LEN, noNul: true };
const METADATA: TextRules = { maxBytes: MAX_ARG_LEN };

/** Reports every rule that the variant in the request breaks. */
export function checkTool(report: Report, tool: ToolRequest["tool"]): void {
  switch (tool.case) {
    case "fileRead":
      return checkFileRead(report, tool.value);
    case "fileWrite":
      return checkFileWrite(report, tool.value);
    case "fileEdit":
      return checkFileEdit(report, tool.value);
    case "shellExec":
      return checkShellExec(report, tool.value);
    case "gitOp":
      return checkGitOperation(report, tool.value);
    case "inference":
      return checkInference(report, tool.value);
    case "artifactPublish":
      return checkArtifactPublish(report, tool.value);
    case "call":
      return checkCall(report, tool.value);
    case "cancel":
      return checkCancel(report, tool.value);
    default:
      // INV-0004; `decode` rejects a second variant.
      report("tool", "required", "must be given: set exactly one variant");
  }
}

function checkFileRead(report: Report, call: FileRead): void {
  checkText(report, "file_read.path", call.path, PATH); // INV-0005 to INV-0007
  checkNumber(report, "file_read.offset", call.offset, MAX_UINT64);
  checkNumber(report, "file_read.limit", call.limit, BigInt(MAX_READ_LIMIT)); // INV-0008
}

function checkFileWrite(report: Report, call: FileWrite): void {
  checkText(report, "file_write.path", call.path, PATH); // INV-0009, INV-0010
  checkSize(report, "file_write.content", call.content, MAX_WRITE_SIZE); // INV-0011
  if (call.createOnly && call.append) {
    // INV-0012
    report("file_write.append", "exclusive", "must not be set together with `create_only`");
  }
}

function checkFileEdit(report: Report, call: FileEdit): void {
  checkText(report, "file_edit.path", call.path, PATH); // INV-0013
  checkText(report, "file_edit.old_content", call.oldContent, OLD_CONTENT); // INV-0014
  checkText(report, "file_edit.new_content", call.newContent, NEW_CONTENT); // INV-0015
}

function checkShellExec(report: Report, call: ShellExec): void {
  checkText(report, "shell_exec.command", call.command, COMMAND); // INV-0016
  checkText(report, "shell_exec.cwd", call.cwd, CWD); // INV-0017
  checkNumber(report, "shell_exec.timeout_ms", call.timeoutMs, BigInt(MAX_TIMEOUT_MS)); // INV-0018
  checkItems(report, "shell_exec.env", call.env, checkEnvEntry); // INV-0019, INV-0020
}

function checkGitOperation(report: Report, call: GitOperation): void {
  if (call.operation === "") report("git_op.operation", "required", "must not be empty");
  else if (!KNOWN_OPERATIONS.has(call.operation)) {
    // INV-0021
    report("git_op.operation", "one_of", `must be one of ${GIT_OPERATIONS.join(", ")}`);
  }
  checkItems(report, "git_op.args", call.args, checkArgument); // INV-0022, INV-0023
  checkText(report, "git_op.cwd", call.cwd, CWD); // INV-0024
}

function checkInference(report: Report, call: InferenceCall): void {
  checkText(report, "inference.provider", call.provider, ID); // INV-0025
  checkText(report, "inference.model", call.model, ID); // INV-0026
  checkHash(report, "inference.prompt_hash", call.promptHash); // INV-0027
  checkNumber(report, "inference.max_tokens", call.maxTokens, BigInt(MAX_TOKENS)); // INV-0028
  if (!Number.isInteger(call.temperatureScaled) || call.temperatureScaled < 0 || call.temperatureScaled > MAX_UINT32) {
    report("inference.temperature_scaled", "range", `must be a whole number from 0 to ${MAX_UINT32}`);
  }
  if (call.systemPromptHash.length > 0) {
    checkHash(report, "inference.system_prompt_hash", call.systemPromptHash); // INV-0029
  }
}

function checkArtifactPublish(report: Report, call: ArtifactPublish): void {
  checkText(report, "artifact_publish.artifact_id", call.artifactId, ID); // INV-0030
  checkHash(report, "artifact_publish.content_hash", call.contentHash); // INV-0031
  checkText(report, "artifact_publish.category", call.category, ID); // INV-0032
  checkItems(report, "artifact_publish.metadata", call.metadata, checkMetadataEntry); // INV-0033, INV-0034
}

function checkCall(report: Report, call: ToolCall): void {
  checkText(report, "call.name", call.name, ID);
  checkText(report, "call.version", call.version, { maxCharacters: MAX_ID_LEN });
  if (call.input.length === 0) report("call.input", "required", "must not be empty: send `{}` for no arguments");
  checkSize(report, "call.input", call.input, MAX_CALL_INPUT_BYTES);
}

function checkCancel(report: Report, call: CancelRequest): void {
  checkText(report, "cancel.request_id", call.requestId, ID);
}

function checkNumber(report: Report, field: string, value: bigint, max: bigint): void {
  if (value < 0n || value > max) report(field, "range", `must be between 0 and ${max}`);
}

function checkSize(report: Report, field: string, bytes: Uint8Array, max: number): void {
  if (bytes.length > max) report(field, "max_length", `must have at most ${max} bytes`);
}

function checkHash(report: Report, field: string, hash: Uint8Array): void {
  if (hash.length !== HASH_SIZE) report(field, "exact_length", `must have exactly ${HASH_SIZE} bytes`);
}

type CheckItem = (report: Report, field: string, item: string) => void;

function checkItems(report: Report, field: string, items: readonly string[], checkItem: CheckItem): void {
  if (items.length > MAX_REPEATED_ITEMS) {
    report(field, "max_items", `must have at most ${MAX_REPEATED_ITEMS} entries`);
  }
  // SECURITY: entries beyond the limit are rejected with one error, so that the number of errors stays bounded.
  const checked = Math.min(items.length, MAX_REPEATED_ITEMS);
  for (let index = 0; index < checked; index++) checkItem(report, `${field}[${index}]`, items[index] ?? "");
}

function checkArgument(report: Report, field: string, argument: string): void {
  checkText(report, field, argument, ARGUMENT);
}

function checkEnvEntry(report: Report, field: string, entry: string): void {
  checkText(report, field, entry, ARGUMENT);
  checkPair(report, field, entry);
}

function checkMetadataEntry(report: Report, field: string, entry: string): void {
  checkText(report, field, entry, METADATA);
  checkPair(report, field, entry);
}

function checkPair(report: Report, field: string, entry: string): void {
  const first = entry.indexOf("=");
  if (first === -1 || entry.indexOf("=", first + 1) !== -1) report(field, "format", "must contain exactly one `=`");
}
