import { type JsonValue, KernelError } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { ToolContext, WasmAccess } from "../../tool/tool.ts";
import { readModuleOutput } from "../../wasm/module-output.ts";
import { moduleLimits } from "../../wasm/wasm-limits.ts";
import type { WasmCall, WasmModule } from "../../wasm/wasm-runner.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { WasmTrace } from "../wasm-trace.ts";
import { HostCalls } from "./host-calls.ts";
import { startCpuShare } from "./program-access.ts";

/** Creates module access for one call: runs modules with their limits, and handles their host calls. */
export function createWasmAccess(
  call: PermittedCall,
  guard: () => void,
  context: ToolContext,
  kernel: KernelParts,
): WasmAccess {
  return {
    run(module) {
      guard();
      const running = runModule(call, module, context, kernel);
      call.trail.trackProgram(running);
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
  const limits = moduleLimits(tool.bounds);
  const log = new WasmTrace(limits);
  call.trail.wasmTrace = log;
  const calls = new HostCalls(call, context, log, kernel);
  const share = startCpuShare(call);
  const asked: WasmCall = {
    module,
    place: placeFor(call),
    allowsSimd: !isRepeatable(call),
    limits: share.allowance === undefined ? limits : { ...limits, cpuMs: share.allowance.limitMs },
    input: call.inputBytes,
  };
  try {
    const end = await kernel.wasm.run(asked, (one) => calls.handle(one), context.signal);
    log.noteEnd(end);
    share.end(end.usage.cpuMs);
    calls.throwFault();
    return readModuleOutput(end.ending);
  } finally {
    share.end();
    await calls.keepLog();
  }
}

/**
 * Returns the process in which a module runs.
 *
 * SECURITY: a module that broke out of its engine controls the process it runs in, and could make requests in the name
 * of every call there. Pure ones have nothing to request, so they share one; all others share a process only with calls
 * of their own session.
 */
function placeFor({ determinism, live }: PermittedCall): string {
  return determinism === "pure" ? "pure" : live.id;
}

function isRepeatable({ determinism }: PermittedCall): boolean {
  return determinism === "pure" || determinism === "deterministic";
}
