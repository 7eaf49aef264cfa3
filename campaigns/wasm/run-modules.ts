import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { meterModule, readTrapCause } from "@narthex/meter";
import type { ModuleRun } from "./module-run.ts";

/** Runs every module of a directory, plain or metered, and prints what they did. Tiers are chosen by flags of V8. */
const [directory = ".", mode] = process.argv.slice(2);
const FUEL = 200_000_000n;
const DEPTH = 2000;
/** Binaryen's generator gives this to modules, so that none of their loops or calls is endless. */
const BEFORE_EACH_CALL = "hangLimitInitializer";
const VALUES = [3, -7, 0x7fff_ffff];

process.stdout.write(
  JSON.stringify(
    readdirSync(directory)
      .filter((file) => file.endsWith(".wasm"))
      .sort()
      .map(runFile),
  ),
);

function runFile(file: string): ModuleRun {
  const bytes = new Uint8Array(readFileSync(join(directory, file)));
  const nothing = { file, calls: [], fuel: [], log: [], memory: "", boundary: undefined };
  if (!WebAssembly.validate(bytes)) return { ...nothing, left: "not valid in V8" };
  if (mode === "plain") return { file, left: undefined, boundary: undefined, ...runPlain(bytes) };
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(bytes));
  const metered = meterModule(bytes, {
    memoryPages: 1000,
    tableEntries: 100_000,
    maxDepth: DEPTH,
    allowSimd: false,
    imports: new Set(imports.map(({ module, name }) => `${module}.${name}`)),
  });
  if (!metered.ok) return { ...nothing, left: metered.reason };
  return { file, left: undefined, ...runMetered(metered.code, metered.exports) };
}

type Ran = Pick<ModuleRun, "calls" | "fuel" | "log" | "memory">;

function runPlain(bytes: Uint8Array): Ran {
  const { instance, log } = instantiate(bytes);
  const calls = callable(instance).map(([name, run]) => call(name, run, () => "trap"));
  return { calls, fuel: [], log, memory: hashMemory(instance) };
}

function runMetered(
  code: Uint8Array,
  names: { readonly fuel: string; readonly depth: string },
): Ran & Pick<ModuleRun, "boundary"> {
  const { instance, log } = instantiate(code);
  const meter = meterOf(instance, names);
  const fuel: string[] = [];
  const calls = callable(instance).map(([name, run]) => {
    meter.set(FUEL);
    const ended = call(name, run, meter.end);
    fuel.push(String(FUEL - meter.left()));
    return ended;
  });
  return { calls, fuel, log, memory: hashMemory(instance), boundary: checkBoundary(code, names, fuel[0], calls[0]) };
}

/** With the fuel that a call used it does the same again, with one less it is out of fuel. */
function checkBoundary(
  code: Uint8Array,
  names: { readonly fuel: string; readonly depth: string },
  used: string | undefined,
  ended: string | undefined,
): string | undefined {
  if (used === undefined || ended === undefined || used === "0" || ended.includes("out of")) return undefined;
  const again = (fuel: bigint): string => {
    const { instance } = instantiate(code);
    const meter = meterOf(instance, names);
    const [first] = callable(instance);
    if (first === undefined) return "";
    meter.set(fuel);
    return call(first[0], first[1], meter.end);
  };
  const exact = again(BigInt(used));
  if (exact !== ended) return `with ${used} units: ${exact}, where it was ${ended}`;
  const less = again(BigInt(used) - 1n);
  return less.endsWith("out of fuel") ? undefined : `with one unit less than ${used}: ${less}`;
}

function instantiate(code: Uint8Array): { instance: WebAssembly.Instance; log: string[] } {
  const log: string[] = [];
  const module = new WebAssembly.Module(code);
  const imports: Record<string, Record<string, unknown>> = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    if (kind === "function")
      (imports[from] ??= {})[name] = (...values: unknown[]) => void log.push(`${name} ${values.map(String).join()}`);
  }
  return { instance: new WebAssembly.Instance(module, imports), log };
}

function callable(instance: WebAssembly.Instance): (readonly [string, () => unknown])[] {
  const prepare = instance.exports[BEFORE_EACH_CALL];
  return Object.entries(instance.exports).flatMap(([name, run]) => {
    if (typeof run !== "function" || name === BEFORE_EACH_CALL) return [];
    const values = VALUES.slice(0, run.length);
    const run64 = () => run(...values.map(BigInt));
    const call = () => {
      if (typeof prepare === "function") prepare();
      try {
        return run(...values);
      } catch (fault) {
        // Whether a parameter is an i64 is not told: then a number is refused before anything runs.
        if (fault instanceof TypeError || fault instanceof SyntaxError) return run64();
        throw fault;
      }
    };
    return [[name, call] as const];
  });
}

function call(name: string, run: () => unknown, why: () => string): string {
  try {
    const value = run();
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return `${name}: ${values.map((one) => (typeof one === "function" ? "function" : String(one))).join()}`;
  } catch (fault) {
    if (fault instanceof TypeError || fault instanceof SyntaxError) return `${name}: not callable`;
    if (!(fault instanceof WebAssembly.RuntimeError || fault instanceof RangeError)) throw fault;
    const cause = why();
    return cause === "trap" ? `${name}: ${fault.message}` : `${name}: out of ${cause}`;
  }
}

function meterOf(instance: WebAssembly.Instance, names: { readonly fuel: string; readonly depth: string }) {
  const { [names.fuel]: fuel, [names.depth]: depth } = instance.exports;
  if (!(fuel instanceof WebAssembly.Global && depth instanceof WebAssembly.Global)) throw new Error("no meter");
  const left = () => BigInt(String(fuel.value));
  return {
    left,
    set(units: bigint) {
      fuel.value = units;
      depth.value = DEPTH;
    },
    end: () => readTrapCause({ fuel: left(), depth: Number(depth.value) }),
  };
}

function hashMemory(instance: WebAssembly.Instance): string {
  const memory = Object.values(instance.exports).find((one) => one instanceof WebAssembly.Memory);
  if (!(memory instanceof WebAssembly.Memory)) return "";
  return createHash("sha256").update(new Uint8Array(memory.buffer)).digest("hex");
}
