import { type Code, findCode, fromBinary, KernelError, type ToolError, ToolErrorSchema } from "@narthex/contracts";

/** For errors of the protocol itself, which carry no kernel code. */
const PROTOCOL_CODES: ReadonlyMap<string, Code> = new Map<string, Code>([
  ["unavailable", "KERNEL_UNREACHABLE"],
  ["not_found", "SESSION_UNKNOWN"],
  ["unimplemented", "KERNEL_UNREACHABLE"],
  ["unauthenticated", "TOKEN_INVALID"],
  ["permission_denied", "TOKEN_INVALID"],
  ["invalid_argument", "INVALID_REQUEST"],
  ["deadline_exceeded", "TIMEOUT"],
  ["canceled", "CANCELLED"],
  ["resource_exhausted", "RESOURCE_EXCEEDED"],
]);

const TOOL_ERROR = "narthex.v1.ToolError";

/** Parses the error in the body of an unsuccessful response. */
export function parseErrorBody(status: number, body: Uint8Array): KernelError {
  return toKernelError(parseObject(body), `the kernel answered with HTTP status ${status}`);
}

/** Parses the error in the last message of a stream, if there is one. */
export function parseStreamEnd(body: Uint8Array): KernelError | undefined {
  const end = parseObject(body);
  const error: unknown = end === undefined ? undefined : Reflect.get(end, "error");
  if (end !== undefined && error === undefined) return undefined;
  return toKernelError(isObject(error) ? error : undefined, "the kernel ended the stream in a way that makes no sense");
}

function toKernelError(error: object | undefined, otherwise: string): KernelError {
  const code: unknown = error === undefined ? undefined : Reflect.get(error, "code");
  const message: unknown = error === undefined ? undefined : Reflect.get(error, "message");
  const detail = error === undefined ? undefined : findToolError(error);
  if (detail !== undefined && isKernelCode(detail.errorCode)) {
    const { violations, retryAfterMs } = detail;
    return new KernelError(detail.errorCode, detail.message, { violations, retryAfterMs: Number(retryAfterMs) });
  }
  const bare = (typeof code === "string" ? PROTOCOL_CODES.get(code) : "KERNEL_UNREACHABLE") ?? "INTERNAL";
  return new KernelError(bare, typeof message === "string" && message !== "" ? message : otherwise);
}

/** Finds the kernel's own error, which is a detail of the protocol's error. */
function findToolError(error: object): ToolError | undefined {
  const details: unknown = Reflect.get(error, "details");
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const value: unknown =
      isObject(detail) && Reflect.get(detail, "type") === TOOL_ERROR ? Reflect.get(detail, "value") : "";
    if (typeof value !== "string" || value === "") continue;
    try {
      return fromBinary(ToolErrorSchema, Buffer.from(value, "base64"));
    } catch {
      return undefined;
    }
  }
  return undefined;
}

function parseObject(body: Uint8Array): object | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isKernelCode(code: string): code is Code {
  return findCode(code) !== undefined;
}
