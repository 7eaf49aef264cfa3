import { isKernelError, KernelError } from "@narthex/contracts";

/** Describes a failed request in the kernel's own words. Nothing that the server sent is quoted. */
export function explainFault(fault: unknown, host: string): unknown {
  if (isKernelError(fault)) return fault;
  if (fault instanceof Error && fault.name === "AbortError") return fault;
  const code = fault instanceof Error && "code" in fault && typeof fault.code === "string" ? fault.code : "";
  const options = { cause: fault };
  switch (code) {
    case "UND_ERR_DESTROYED":
    case "UND_ERR_CLOSED":
      return new KernelError("CANCELLED", "the call has ended", options);
    case "UND_ERR_HEADERS_TIMEOUT":
      return new KernelError("TIMEOUT", `\`${host}\` did not answer in time`, options);
    case "UND_ERR_BODY_TIMEOUT":
      return new KernelError("TIMEOUT", `\`${host}\` stopped in the middle of its answer`, options);
    case "UND_ERR_HEADERS_OVERFLOW":
    case "HPE_HEADER_OVERFLOW":
      return new KernelError("RESOURCE_EXCEEDED", `the headers of \`${host}\` are larger than they may be`, options);
    default:
      if (/^(?:Z_|ERR__|ERR_BROTLI|ERR_PADDING)/.test(code)) {
        return new KernelError("UPSTREAM_ERROR", `the answer of \`${host}\` cannot be unpacked (${code})`, options);
      }
      if (code.startsWith("HPE_")) {
        return new KernelError("UPSTREAM_ERROR", `the answer of \`${host}\` is no valid HTTP (${code})`, options);
      }
      return new KernelError(
        "UPSTREAM_ERROR",
        `\`${host}\` ended the connection early${code && ` (${code})`}`,
        options,
      );
  }
}
