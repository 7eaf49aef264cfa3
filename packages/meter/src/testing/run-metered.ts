import assert from "node:assert/strict";
import { type TrapCause, readTrapCause } from "../trap-cause.ts";
import { meterModule } from "../meter-module.ts";
import type { Metered, MeterOptions } from "../meter-options.ts";
import { assemble } from "./assemble.ts";

export const OPTIONS: MeterOptions = {
  memoryPages: 16,
  tableEntries: 100,
  maxDepth: 1000,
  allowSimd: false,
  imports: new Set(["env.host", "env.number"]),
};

export type Taken = Extract<Metered, { ok: true }>;

/** Meters a module given as text or bytes. Fails if it is rejected. */
export function metered(module: string | Uint8Array, options: Partial<MeterOptions> = {}): Taken {
  const answer = meterModule(typeof module === "string" ? assemble(module) : module, { ...OPTIONS, ...options });
  if (!answer.ok) assert.fail(`rejected: ${answer.reason}: ${answer.message}`);
  return answer;
}

export type Ran =
  | { readonly value: unknown; readonly used: bigint }
  | { readonly end: TrapCause; readonly left: bigint };

export interface Running {
  readonly instance: WebAssembly.Instance;
  call(name: string, ...values: unknown[]): Ran;
}

export interface RunLimits {
  readonly fuel?: bigint;
  readonly depth?: number;
  readonly host?: WebAssembly.ExportedFunction;
}

/** Creates an instance. Each of its calls starts with this fuel and depth. */
export function start(module: Taken, { fuel = 1_000_000n, depth = 1000, host = () => 0 }: RunLimits = {}): Running {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.code), { env: { host, number: host } });
  const fuelGlobal = globalOf(instance, module.exports.fuel);
  const depthGlobal = globalOf(instance, module.exports.depth);
  return {
    instance,
    call(name, ...values) {
      fuelGlobal.value = fuel;
      depthGlobal.value = depth;
      const run = instance.exports[name];
      if (typeof run !== "function") assert.fail(`no function \`${name}\``);
      try {
        const value = run(...values);
        return { value, used: fuel - BigInt(String(fuelGlobal.value)) };
      } catch (fault) {
        if (!(fault instanceof WebAssembly.RuntimeError)) throw fault;
        const left = BigInt(String(fuelGlobal.value));
        return { end: readTrapCause({ fuel: left, depth: Number(depthGlobal.value) }), left };
      }
    },
  };
}

function globalOf(instance: WebAssembly.Instance, name: string): WebAssembly.Global {
  const found = instance.exports[name];
  assert.ok(found instanceof WebAssembly.Global, `no global \`${name}\``);
  return found;
}
