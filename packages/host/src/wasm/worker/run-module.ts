import { readTrapCause } from "@narthex/meter";
import { HOST_CALL_DEPTH, HOST_CALL_FUEL, HOST_IMPORT, MAX_DEPTH, MAX_MESSAGE_BYTES } from "./messages.ts";
import type { HostEnding, ModuleUse, ProblemWord, TrapWord } from "./messages.ts";
import type { LoadedModule } from "./thread-messages.ts";

/** Usage reported by the meter. */
type Metered = Pick<ModuleUse, "fuel" | "memoryPages">;

/**
 * Calls the kernel and waits, passing the module's usage so far. Returns the response, or a status number for the
 * module.
 */
export type CallHost = (code: number, request: Uint8Array, soFar: Metered) => Uint8Array | number;

export interface ModuleRun {
  readonly ending: HostEnding;
  readonly use: Metered;
  readonly bytes: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);
const PAGE_BYTES = 65_536;
/** Bit in the result of `run` that marks a failure; the output is then the failure text. */
const FAILED = 1n << 63n;

/** Runs a module once, in its own instance. SPEC: docs/formats/wasm-abi.md. */
export function runModule(loaded: LoadedModule, fuel: number, input: Uint8Array, callHost: CallHost): ModuleRun {
  const run = new Run(loaded, fuel, callHost);
  try {
    const { ending, bytes } = run.start(input);
    return { ending, bytes, use: run.use() };
  } catch (fault) {
    return { ending: run.explain(fault), bytes: NO_BYTES, use: run.use() };
  }
}

/** The module violates the ABI. */
class AbiViolation extends Error {
  readonly problem: ProblemWord;

  constructor(problem: ProblemWord) {
    super(problem);
    this.problem = problem;
  }
}

/** Thrown through the module, which cannot catch anything. */
class OutOfFuel extends Error {}
class OutOfDepth extends Error {}

type Exported = (...values: number[]) => unknown;

class Run {
  readonly #loaded: LoadedModule;
  readonly #limit: bigint;
  readonly #callHost: CallHost;
  #fuel: WebAssembly.Global | undefined;
  #depth: WebAssembly.Global | undefined;
  #memory: WebAssembly.Memory | undefined;
  #alloc: Exported | undefined;

  constructor(loaded: LoadedModule, fuel: number, callHost: CallHost) {
    this.#loaded = loaded;
    this.#limit = BigInt(fuel);
    this.#callHost = callHost;
  }

  start(input: Uint8Array): { readonly ending: HostEnding; readonly bytes: Uint8Array } {
    const { added, module } = this.#loaded;
    const host = (code: number, place: number, length: number): bigint => this.#answer(code, place, length);
    // INVARIANT: none of the module's code has run yet: its start function was turned into an export.
    const { exports } = new WebAssembly.Instance(module, { [HOST_IMPORT.module]: { [HOST_IMPORT.name]: host } });
    this.#fuel = exports[added.fuel] as WebAssembly.Global;
    this.#depth = exports[added.depth] as WebAssembly.Global;
    this.#fuel.value = this.#limit;
    this.#depth.value = MAX_DEPTH;
    const memory = added.memory === undefined ? undefined : exports[added.memory];
    if (!(memory instanceof WebAssembly.Memory)) throw new AbiViolation("no-memory");
    this.#memory = memory;
    const { alloc, run } = exports;
    if (typeof alloc !== "function" || alloc.length !== 1) throw new AbiViolation("no-alloc");
    if (typeof run !== "function" || run.length !== 2) throw new AbiViolation("no-run");
    this.#alloc = alloc;
    if (added.start !== undefined) (exports[added.start] as Exported)();
    const place = this.#put(input);
    const given = run(place, input.length);
    if (typeof given !== "bigint") throw new AbiViolation("no-run");
    const bits = BigInt.asUintN(64, given);
    const hasFailed = (bits & FAILED) !== 0n;
    const bytes = this.#take(Number((bits & ~FAILED) >> 32n), Number(bits & 0xffff_ffffn), "run-place");
    return { ending: { how: hasFailed ? "failed" : "answered" }, bytes };
  }

  use(): Metered {
    const left = this.#fuel?.value ?? this.#limit;
    return {
      fuel: Number(this.#limit - (left as bigint)),
      memoryPages: (this.#memory?.buffer.byteLength ?? 0) / PAGE_BYTES,
    };
  }

  explain(fault: unknown): HostEnding {
    if (fault instanceof AbiViolation) return { how: "broken", problem: fault.problem };
    const { fuel, memoryPages } = this.use();
    const allowed = Number(this.#limit);
    if (fault instanceof OutOfFuel) return { how: "exceeded", limit: "fuel", allowed, peak: fuel };
    const depth = Number(this.#depth?.value ?? 0);
    const end = readTrapCause({ fuel: this.#limit - BigInt(fuel), depth });
    switch (end) {
      case "fuel":
        return { how: "exceeded", limit: "fuel", allowed, peak: fuel };
      case "depth":
        return { how: "exceeded", limit: "depth", allowed: MAX_DEPTH, peak: MAX_DEPTH - depth };
      case "memory":
        return { how: "starved" };
      case "trap":
        return this.#explainTrap(fault, memoryPages);
    }
  }

  #explainTrap(fault: unknown, memoryPages: number): HostEnding {
    // Cannot happen, because the stack has room for the maximum depth; it must not be reported as a trap in any case.
    if (fault instanceof RangeError) {
      return { how: "exceeded", limit: "depth", allowed: MAX_DEPTH, peak: MAX_DEPTH + 1 };
    }
    const trap = trapOf(fault);
    // Only the module knows why it needed memory: if it aborts with all its memory in use, it probably needed more.
    if (trap !== "unreachable" || memoryPages < this.#loaded.memoryPages) return { how: "trapped", trap };
    const bytes = memoryPages * PAGE_BYTES;
    return { how: "exceeded", limit: "memory", allowed: bytes, peak: bytes };
  }

  #answer(code: number, place: number, length: number): bigint {
    this.#charge(HOST_CALL_FUEL + (length >>> 0));
    const answer = this.#callHost(code >>> 0, this.#take(place >>> 0, length >>> 0, "request-place"), this.use());
    if (typeof answer === "number") return BigInt(answer);
    this.#charge(answer.length);
    if (answer.length === 0) return 0n;
    this.#descend();
    return (BigInt(this.#put(answer)) << 32n) | BigInt(answer.length);
  }

  /** INVARIANT: the caller of a host function keeps its own depth, and restores it before it calls another function. */
  #descend(): void {
    if (this.#depth === undefined) return;
    const left = Number(this.#depth.value) - HOST_CALL_DEPTH;
    this.#depth.value = left;
    if (left < 0) throw new OutOfDepth();
  }

  #charge(fuel: number): void {
    if (this.#fuel === undefined) return;
    const left = (this.#fuel.value as bigint) - BigInt(fuel);
    this.#fuel.value = left;
    if (left < 0n) throw new OutOfFuel();
  }

  /** Writes bytes to memory that the module allocates for them. */
  #put(bytes: Uint8Array): number {
    const given = this.#alloc?.(bytes.length);
    if (typeof given !== "number") throw new AbiViolation("no-alloc");
    const place = given >>> 0;
    const memory = this.#bytes();
    if (place + bytes.length > memory.length) throw new AbiViolation("alloc-place");
    memory.set(bytes, place);
    return place;
  }

  /** Copies bytes from the module's memory. */
  #take(place: number, length: number, problem: ProblemWord): Uint8Array {
    const memory = this.#bytes();
    if (place + length > memory.length) throw new AbiViolation(problem);
    if (length > MAX_MESSAGE_BYTES) throw new AbiViolation("answer-length");
    return memory.slice(place, place + length);
  }

  /** Created for each use: when memory grows, the old buffer becomes empty. */
  #bytes(): Uint8Array {
    return new Uint8Array(this.#memory?.buffer ?? NO_BYTES.buffer);
  }
}

/** Traps by the engine's message; unknown messages become `other`. */
const TRAPS: readonly (readonly [RegExp, TrapWord])[] = [
  [/unreachable/, "unreachable"],
  [/segment/, "segment"],
  [/divide by zero|remainder by zero/, "division"],
  [/unrepresentable|float/, "overflow"],
  [/memory/, "memory"],
  [/table/, "table"],
  [/signature|indirect call/, "signature"],
  [/null|dereferenc/, "null"],
];

function trapOf(fault: unknown): TrapWord {
  const text = fault instanceof Error ? fault.message : "";
  return TRAPS.find(([pattern]) => pattern.test(text))?.[1] ?? "other";
}
