import { meterModule, readTrapCause } from "@narthex/meter";
import type { Outcome } from "./outcome.ts";
import type { Engine } from "./world.ts";

/** More than any test of the suite uses. */
const FUEL = 10n ** 13n;
/** Deeper than any test of the suite that must return, and less than `STACK_MB` can hold. */
const MAX_DEPTH = 20_000;

export function createPlainEngine(): Engine {
  return {
    load: (bytes, imports) => new WebAssembly.Instance(new WebAssembly.Module(bytes), imports),
    beforeCall: () => undefined,
    explain: explainFault,
  };
}

interface MeterState {
  readonly fuel: WebAssembly.Global;
  readonly depth: WebAssembly.Global;
}

export function createMeteredEngine(): Engine {
  const states: MeterState[] = [];
  const refill = () => {
    for (const { fuel, depth } of states) [fuel.value, depth.value] = [FUEL, MAX_DEPTH];
  };
  return {
    load(bytes, imports) {
      const granted = Object.entries(imports).flatMap(([module, parts]) =>
        Object.keys(parts).map((name) => `${module}.${name}`),
      );
      const wanted = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).map(
        ({ module, name }) => `${module}.${name}`,
      );
      const metered = meterModule(bytes, {
        memoryPages: 65_536,
        tableEntries: 10_000_000,
        maxDepth: MAX_DEPTH,
        allowSimd: true,
        // Missing imports are granted too, so that V8 reports that they are missing.
        imports: new Set([...granted, ...wanted]),
      });
      if (!metered.ok) return { rejected: metered.reason };
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(metered.code), imports);
      const { [metered.exports.fuel]: fuel, [metered.exports.depth]: depth } = exports;
      if (!(fuel instanceof WebAssembly.Global && depth instanceof WebAssembly.Global))
        throw new Error("the metered module lacks its globals");
      states.push({ fuel, depth });
      refill();
      const start = metered.exports.start === undefined ? undefined : exports[metered.exports.start];
      if (typeof start === "function") start();
      return { exports };
    },
    beforeCall: refill,
    explain(fault) {
      if (!(fault instanceof WebAssembly.RuntimeError)) return explainFault(fault);
      for (const { fuel, depth } of states) {
        const end = readTrapCause({ fuel: BigInt(String(fuel.value)), depth: Number(depth.value) });
        if (end === "depth") return { kind: "exhausted" };
        if (end !== "trap") return { kind: "failed", message: `out of ${end}` };
      }
      return explainFault(fault);
    },
  };
}

function explainFault(fault: unknown): Outcome {
  if (fault instanceof WebAssembly.RuntimeError) return { kind: "trap", message: fault.message };
  if (fault instanceof RangeError && fault.message.startsWith("Maximum call stack")) return { kind: "exhausted" };
  if (fault instanceof WebAssembly.CompileError) return { kind: "failed", message: "does not compile" };
  if (fault instanceof WebAssembly.LinkError) return { kind: "failed", message: "does not link" };
  if (fault instanceof TypeError || fault instanceof RangeError) return { kind: "failed", message: fault.message };
  // The meter rejects modules with exceptions, but they run in the plain world.
  if (String(fault) === "[object WebAssembly.Exception]") return { kind: "failed", message: "an exception" };
  throw fault;
}
