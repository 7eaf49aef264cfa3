import { type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { ToolContext, WasmAccess } from "../../tool/tool.ts";
import { WASM_MEMORY_CEILING, WASM_PRESETS } from "../../wasm/wasm-limits.ts";
import type { WasmCall, WasmEnding, WasmLimits, WasmModule } from "../../wasm/wasm-runner.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { WasmLog } from "../wasm-log.ts";
import { HostCalls } from "./host-calls.ts";

/** A module's calls under one grant: its limits, and what it may ask of its host. */
export function wasmFor(call: PermittedCall, guard: () => void, context: ToolContext, kernel: KernelParts): WasmAccess {
  return {
    run(module) {
      guard();
      const running = runModule(call, module, context, kernel);
      call.trail.followProgram(running);
      return running;
    },
  };
}

async function runModule(
  call: PermittedCall,
  module: WasmModule,
  context: ToolContext,
  kernel: KernelParts,
): Promise<JsonValue> {
  const { id, tool } = call.registered;
  if (tool.isolation !== "wasm")
    throw new KernelError("UNDECLARED_EFFECT", `\`${id}\` is ${tool.isolation}, no module`);
  if (kernel.wasm === undefined) throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel runs no modules");
  const limits = limitsFor(call);
  const log = new WasmLog(limits);
  call.trail.wasm = log;
  const calls = new HostCalls(call, context, log, kernel);
  const asked: WasmCall = {
    module,
    place: placeFor(call),
    allowsSimd: !isRepeatable(call),
    limits,
    input: call.inputBytes,
  };
  try {
    const end = await kernel.wasm.run(asked, (one) => calls.answer(one), context.signal);
    log.noteEnd(end);
    calls.throwFault();
    return answerOf(end.how);
  } finally {
    await calls.keepLog();
  }
}

/**
 * SECURITY: a module that broke out of its engine has the process it runs in, and could ask in the name of every call
 * there. Pure ones have nothing to ask for, so they share one; all others only ever meet calls of their own session.
 */
function placeFor({ determinism, live }: PermittedCall): string {
  return determinism === "pure" ? "pure" : live.id;
}

function isRepeatable({ determinism }: PermittedCall): boolean {
  return determinism === "pure" || determinism === "deterministic";
}

function limitsFor({ registered }: PermittedCall): WasmLimits {
  const { maxFuel, maxMemoryBytes } = registered.tool.bounds;
  const { fuel, memoryBytes } = WASM_PRESETS.standard;
  return {
    fuel: maxFuel ?? fuel,
    memoryBytes: Math.min(maxMemoryBytes ?? memoryBytes, WASM_MEMORY_CEILING),
  };
}

/** What the module answered. Throws with the code of what went wrong instead. */
function answerOf(how: WasmEnding): JsonValue {
  switch (how.kind) {
    case "answered":
      return parseAnswer(how.output);
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

function parseAnswer(output: Uint8Array): JsonValue {
  if (output.length === 0) throw new KernelError("INVALID_OUTPUT", "it answered nothing; `run` gives one JSON value");
  try {
    return parseJson(output);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KernelError("INVALID_OUTPUT", `its answer is not one JSON value: ${reason}`, { cause });
  }
}

const MAX_TEXT = 300;

/** On one line, with nothing in it that would not show. */
function readable(text: Uint8Array): string {
  const line = new TextDecoder()
    .decode(text.subarray(0, MAX_TEXT * 4))
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim();
  return line === "" ? "nothing" : line.slice(0, MAX_TEXT);
}
