import type { CodeFacts } from "./code-facts.ts";

export type ErrorCode =
  | "INVALID_REQUEST"
  | "INVALID_INPUT"
  | "INVALID_OUTPUT"
  | "TOOL_NOT_FOUND"
  | "TOOL_QUARANTINED"
  | "DUPLICATE_REQUEST_ID"
  | "DEDUPE_CONFLICT"
  | "OUTCOME_UNKNOWN"
  | "KILLED"
  | "TIMEOUT"
  | "CANCELLED"
  | "RESOURCE_EXCEEDED"
  | "EXECUTION_FAILED"
  | "UNDECLARED_EFFECT"
  | "SANDBOX_UNAVAILABLE"
  | "SANDBOX_ERROR"
  | "PROTECTION_FAILED"
  | "STORE_UNAVAILABLE"
  | "CONTENT_NOT_FOUND"
  | "FILE_NOT_FOUND"
  | "FILE_EXISTS"
  | "NOT_A_FILE"
  | "NOT_A_DIRECTORY"
  | "DIRECTORY_NOT_EMPTY"
  | "NO_MATCH"
  | "MULTIPLE_MATCHES"
  | "PATH_ESCAPE"
  | "NOT_TEXT"
  | "NETWORK_BLOCKED"
  | "UPSTREAM_ERROR"
  | "RATE_LIMITED"
  | "ARTIFACT_EXISTS"
  | "APPROVAL_PENDING"
  | "INTERNAL";

/** Why a call failed: `ToolError.error_code`. */
export const ERROR_CODES: ReadonlyMap<ErrorCode, CodeFacts> = new Map<ErrorCode, CodeFacts>([
  [
    "INVALID_REQUEST",
    {
      retryable: false,
      meaning: "the request breaks the rules of the wire",
      next: "correct every field named in the violations and send it again",
    },
  ],
  [
    "INVALID_INPUT",
    {
      retryable: false,
      meaning: "the input does not fit the tool's schema or limits",
      next: "correct every field named in the violations; `narthex tools show NAME` prints the schema",
    },
  ],
  [
    "INVALID_OUTPUT",
    {
      retryable: false,
      meaning: "the tool ran and gave something that does not fit its own output schema",
      next: "report it to the tool's author; its effects may have happened, so look before calling again",
    },
  ],
  [
    "TOOL_NOT_FOUND",
    {
      retryable: false,
      meaning: "no tool has this name and version",
      next: "choose one from `narthex tools list`, and leave the version out to get the highest release",
    },
  ],
  [
    "TOOL_QUARANTINED",
    {
      retryable: false,
      meaning: "the tool's definition changed since it was trusted",
      next: "use another tool, or have an administrator compare both definitions and trust the new one",
    },
  ],
  [
    "DUPLICATE_REQUEST_ID",
    {
      retryable: false,
      meaning: "this session used the request id before, for something else",
      next: "send the call under a new request id",
    },
  ],
  [
    "DEDUPE_CONFLICT",
    {
      retryable: false,
      meaning: "this session used the dedupe key before, for something else",
      next: "use a new dedupe key for the new call, or leave it empty",
    },
  ],
  [
    "OUTCOME_UNKNOWN",
    {
      retryable: false,
      meaning: "the call may or may not have had its effect",
      next: "look at the world, then settle the call with `narthex journal`; until then it is not run again",
    },
  ],
  [
    "KILLED",
    {
      retryable: false,
      meaning:
        "the kernel ended during the call and its programs with it; they may have changed the workspace, and nothing else",
      next: "look at the workspace if it matters, then make the call again",
    },
  ],
  [
    "TIMEOUT",
    {
      retryable: false,
      meaning: "the call ran longer than its time-out and was stopped",
      next: "check which effects happened, then ask for less at once or for a longer time-out",
    },
  ],
  [
    "CANCELLED",
    {
      retryable: false,
      meaning: "the call was cancelled",
      next: "check which effects happened if the answer says they are possible, then call again if it is still wanted",
    },
  ],
  [
    "RESOURCE_EXCEEDED",
    {
      retryable: false,
      meaning: "the call went over one of its bounds and was stopped",
      next: "ask for less at once; the message names the limit and the peak",
    },
  ],
  [
    "EXECUTION_FAILED",
    {
      retryable: false,
      meaning: "the tool ran and failed",
      next: "read the message, change the input or what it refers to, and call again",
    },
  ],
  [
    "UNDECLARED_EFFECT",
    {
      retryable: false,
      meaning: "the tool tried something its declaration does not allow",
      next: "use a tool that declares this effect, or have the tool's author declare it",
    },
  ],
  [
    "SANDBOX_UNAVAILABLE",
    {
      retryable: false,
      meaning: "this host cannot contain the tool, so it was not run",
      next: "do what the message names, then make the call again; after a change of the host start the kernel again",
    },
  ],
  [
    "SANDBOX_ERROR",
    {
      retryable: false,
      meaning: "the sandbox failed around the tool",
      next: "look at the kernel's log for the reason, then call again",
    },
  ],
  [
    "PROTECTION_FAILED",
    {
      retryable: false,
      meaning: "a program changed protected paths and they could not be put back; the session is quarantined",
      next: "have a person look at the paths that `narthex doctor` names; no program runs in that workspace until then",
    },
  ],
  [
    "STORE_UNAVAILABLE",
    {
      retryable: true,
      meaning: "the ledger cannot be written, so nothing runs",
      next: "free or repair the disk of the kernel's home, start the kernel again, then repeat the call",
    },
  ],
  [
    "CONTENT_NOT_FOUND",
    {
      retryable: false,
      meaning: "this session holds no content with this hash",
      next: "use a hash that this session received; to get a result of an earlier session, make the call again",
    },
  ],
  [
    "FILE_NOT_FOUND",
    {
      retryable: false,
      meaning: "there is no such file or directory",
      next: "list the directory and correct the path",
    },
  ],
  [
    "FILE_EXISTS",
    {
      retryable: false,
      meaning: "the file exists already and the call asked to create it",
      next: "choose another path, or write without asking for a new file",
    },
  ],
  [
    "NOT_A_FILE",
    {
      retryable: false,
      meaning: "the path is not a regular file",
      next: "name a file; a directory is listed, not read",
    },
  ],
  [
    "NOT_A_DIRECTORY",
    {
      retryable: false,
      meaning: "the path, or a part of it, is not a directory",
      next: "correct the path so that every part but the last is a directory",
    },
  ],
  [
    "DIRECTORY_NOT_EMPTY",
    {
      retryable: false,
      meaning: "the directory has entries in it",
      next: "remove the entries first, or ask for removal of the whole tree if the tool allows it",
    },
  ],
  [
    "NO_MATCH",
    {
      retryable: false,
      meaning: "the text to replace does not occur in the file",
      next: "read the file again and give the text exactly as it stands, white space included",
    },
  ],
  [
    "MULTIPLE_MATCHES",
    {
      retryable: false,
      meaning: "the text to replace occurs more than once in the file",
      next: "give more of the surrounding lines so that the text occurs once",
    },
  ],
  [
    "PATH_ESCAPE",
    {
      retryable: false,
      meaning: "the path leads out of the workspace",
      next: "use a path inside the workspace, and no link that points out of it",
    },
  ],
  [
    "NOT_TEXT",
    {
      retryable: false,
      meaning: "the file is not text in UTF-8",
      next: "read it as bytes, or convert it first",
    },
  ],
  [
    "NETWORK_BLOCKED",
    {
      retryable: false,
      meaning: "the address may not be reached from here",
      next: "use a host the lease and the policy allow; private and local addresses are never reached",
    },
  ],
  [
    "UPSTREAM_ERROR",
    {
      retryable: true,
      meaning: "the service behind the tool failed or could not be reached",
      next: "read its answer in the message, check what it did, and repeat the call later",
    },
  ],
  [
    "RATE_LIMITED",
    {
      retryable: true,
      meaning: "too many calls in too short a time",
      next: "wait at least `retry_after_ms`, then repeat the call",
    },
  ],
  [
    "ARTIFACT_EXISTS",
    {
      retryable: false,
      meaning: "the artifact id stands for other content already, and artifacts never change",
      next: "publish under a new artifact id",
    },
  ],
  [
    "APPROVAL_PENDING",
    {
      retryable: true,
      meaning: "a person is being asked and has not answered yet",
      next: "have the approval answered at the place the message names, then repeat the same call: it joins the one that waits",
    },
  ],
  [
    "INTERNAL",
    {
      retryable: false,
      meaning: "the kernel has a fault",
      next: "look at the kernel's log, find the call with `narthex ledger show`, and report both",
    },
  ],
]);
