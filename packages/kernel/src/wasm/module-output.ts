import { type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import type { WasmEnding } from "./wasm-runner.ts";

/** Parses the module's output. Throws a KernelError if the call ended in any other way. */
export function readModuleOutput(how: WasmEnding): JsonValue {
  switch (how.kind) {
    case "answered":
      return parseOutput(how.output);
    case "failed":
      throw new KernelError("EXECUTION_FAILED", `it says: ${readable(how.text)}`);
    case "exceeded":
      throw new KernelError("RESOURCE_EXCEEDED", `${how.limit}: at most ${how.allowed}, and it came to ${how.peak}`);
    case "trapped":
      throw new KernelError("EXECUTION_FAILED", `it trapped: ${how.trap}`);
    case "broken":
      throw new KernelError("EXECUTION_FAILED", `it does not keep to the ABI: ${how.problem}`);
    case "rejected":
      throw new KernelError("EXECUTION_FAILED", `the module is rejected (${how.reason}): ${how.message}`);
    case "starved":
      throw new KernelError("SANDBOX_ERROR", "the machine could not give the module the memory that it may have");
    case "stopped":
      throw new KernelError("CANCELLED", "the module was stopped");
  }
}

function parseOutput(output: Uint8Array): JsonValue {
  if (output.length === 0) throw new KernelError("INVALID_OUTPUT", "it answered nothing; `run` gives one JSON value");
  try {
    return parseJson(output);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KernelError("INVALID_OUTPUT", `its answer is not one JSON value: ${reason}`, { cause });
  }
}

const MAX_TEXT = 300;

/** Formats text on one line, without invisible characters. */
function readable(text: Uint8Array): string {
  const line = new TextDecoder()
    .decode(text.subarray(0, MAX_TEXT * 4))
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim();
  return line === "" ? "nothing" : line.slice(0, MAX_TEXT);
}
