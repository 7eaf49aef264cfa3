import { KernelError } from "@narthex/contracts";
import type { FileOperation } from "@narthex/kernel";
import { quote } from "../configuration/configuration-problems.ts";
import type { FailedReply, FaultCode, FaultReason } from "./worker/messages.ts";

const MAX_QUOTED_PATH = 200;
const MAX_TOLD_LINES = 20;

/** Describes why a worker did not perform an operation, in the kernel's own words. */
export function explainFault(operation: FileOperation, reply: FailedReply): KernelError {
  const what =
    operation.kind === "move"
      ? `${quotePath(operation.source)} to ${quotePath(operation.destination)}`
      : quotePath(operation.path);
  const words = reply.reason === "system" || reply.reason === "code" ? describeCode(reply) : REASONS[reply.reason];
  return new KernelError(reply.code, `${what}: ${words}`, { changedNothing: reply.unchanged === true });
}

export function quotePath(path: string): string {
  return quote(path, MAX_QUOTED_PATH);
}

function describeCode(reply: FailedReply): string {
  const { code, errno = "EUNKNOWN", count = 0, lines = [] } = reply;
  if (code === "MULTIPLE_MATCHES") {
    const told = lines.slice(0, MAX_TOLD_LINES).join(", ");
    return `the text stands there ${count} times, on lines ${told}${lines.length > MAX_TOLD_LINES ? ", ..." : ""}`;
  }
  if (code === "EXECUTION_FAILED" || code === "RESOURCE_EXCEEDED")
    return ERRNOS.get(errno) ?? `the system says ${errno}`;
  return CODES[code];
}

const CODES: Readonly<
  Record<Exclude<FaultCode, "EXECUTION_FAILED" | "RESOURCE_EXCEEDED" | "MULTIPLE_MATCHES">, string>
> = {
  FILE_NOT_FOUND: "there is no such file or directory",
  FILE_EXISTS: "it exists already",
  NOT_A_FILE: "it is not a regular file",
  NOT_A_DIRECTORY: "it, or a part of its path, is not a directory",
  DIRECTORY_NOT_EMPTY: "the directory is not empty",
  NO_MATCH: "the text does not stand there",
  PATH_ESCAPE: "it leads out of the workspace",
  NOT_TEXT: "it is not text in UTF-8",
  INVALID_INPUT: "a name in it cannot be used",
};

const REASONS: Readonly<Record<Exclude<FaultReason, "system" | "code">, string>> = {
  "absolute-link": "a link in it leads out of the workspace",
  "other-device": "it lies on another file system than the workspace",
  "too-many-links": "it leads through more than 40 links",
  "link-name": "a link in it leads to a name that is not UTF-8",
  name: "it has a name in it that cannot be used",
  root: "the workspace itself can be listed, and nothing else",
  changed: "it changed since it was opened; look at it again",
  unsettled: "it is being replaced all the time",
  "directory-there": "a directory is there, which is never replaced",
  "into-itself": "a directory cannot be moved into itself",
  "file-too-large": "files are edited up to 100 MB, before and after",
  "too-many-occurrences": "the text stands there more than 100000 times",
  "tree-too-large": "more than 100000 files and directories at once",
  "tree-too-deep": "more than 256 directories inside each other",
  "unwritable-tree": "a directory in it may not be changed",
};

const ERRNOS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the workspace is read-only here"],
  ["EBUSY", "something is mounted there"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EFBIG", "the file would be larger than allowed"],
  ["EMFILE", "too many files are open"],
  ["ENFILE", "too many files are open"],
  ["ENOMEM", "not enough memory"],
]);
