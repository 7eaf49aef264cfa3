import type { Outcome } from "@narthex/contracts";
import type { Tool, ToolContext, WasmAccess } from "../tool/tool.ts";
import { hostFunction } from "../wasm/host-functions.ts";
import { readModuleOutput } from "../wasm/module-output.ts";
import { SeededHostCalls } from "../wasm/seeded-host-calls.ts";
import { moduleLimits } from "../wasm/wasm-limits.ts";
import type { WasmRunner } from "../wasm/wasm-runner.ts";
import { ServedFromRecord } from "./served-from-record.ts";

/** A module's call according to its record. */
export interface RecordedModule {
  readonly runner: WasmRunner;
  readonly tool: Pick<Tool, "bounds">;
  readonly input: Uint8Array;
  /** Resources that it used, and calls to its host. */
  readonly used: Outcome["wasm"];
}

/** All replays share one place, because replayed calls have no effects and nothing to keep from each other. */
const PLACE = "replay";

/**
 * Replays a module of a tool that declares no effects. The record shows whether the session could read the clock;
 * responses about other rights of the session are not recorded.
 */
export function createReplayModule(
  { runner, tool, input, used }: RecordedModule,
  context: Pick<ToolContext, "nowMs" | "randomBytes" | "content" | "signal">,
  noteFuel: (fuel: number) => void,
): WasmAccess {
  const hasClock = used?.hostCalls.some(({ name, answerBytes }) => name === "clock" && answerBytes > 0n) ?? false;
  return {
    async run(module) {
      const seeded = new SeededHostCalls(context, hasClock);
      let fault: Error | undefined;
      const answer: Parameters<WasmRunner["run"]>[1] = async ({ code, request }) => {
        const name = hostFunction(code);
        if (name === undefined) return "invalid";
        try {
          if (name === "has_capability" || name === "fs_read" || name === "fs_write" || name === "fetch") {
            throw new ServedFromRecord("programs");
          }
          return await seeded.handle(name, request);
        } catch (thrown) {
          fault ??= thrown instanceof Error ? thrown : new Error(String(thrown));
          throw fault;
        }
      };
      const asked = { module, place: PLACE, allowsSimd: false, limits: moduleLimits(tool.bounds), input };
      const { ending, usage } = await runner.run(asked, answer, context.signal);
      if (fault !== undefined) throw fault;
      noteFuel(usage.fuel);
      return readModuleOutput(ending);
    },
  };
}
