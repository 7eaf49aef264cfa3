import { HOST_FUNCTIONS, type HostFunction } from "../wasm/host-functions.ts";
import type { WasmEnd, WasmLimits, WasmUsage } from "../wasm/wasm-runner.ts";

/** Number of calls of one host function, and bytes in each direction. */
interface HostCallCount {
  calls: number;
  requestBytes: number;
  answerBytes: number;
}

/** A module's use of resources in the outcome entry. SPEC: docs/formats/ledger.md, "Modules". */
export interface WasmFacts {
  readonly fuelUsed: number;
  readonly fuelLimit: number;
  readonly memoryBytes: number;
  readonly memoryLimitBytes: number;
  readonly partial: boolean;
  readonly hostCalls: readonly ({ readonly name: HostFunction } & Readonly<HostCallCount>)[];
}

/** The resources that a module used, and its calls to its host. */
export class WasmTrace {
  readonly #limits: WasmLimits;
  readonly #counts = new Map<HostFunction, HostCallCount>();
  #use: WasmUsage | undefined;

  constructor(limits: WasmLimits) {
    this.#limits = limits;
  }

  noteCall(name: HostFunction, requestBytes: number, answerBytes: number): void {
    const count = this.#counts.get(name) ?? { calls: 0, requestBytes: 0, answerBytes: 0 };
    this.#counts.set(name, count);
    count.calls++;
    count.requestBytes += requestBytes;
    count.answerBytes += answerBytes;
  }

  noteEnd({ usage }: WasmEnd): void {
    this.#use = usage;
  }

  facts(): WasmFacts {
    return {
      fuelUsed: this.#use?.fuel ?? 0,
      fuelLimit: this.#limits.fuel,
      memoryBytes: this.#use?.memoryBytes ?? 0,
      memoryLimitBytes: this.#limits.memoryBytes,
      // If the call ended without a report of the module's host, its use is not known.
      partial: this.#use?.isPartial ?? true,
      hostCalls: HOST_FUNCTIONS.flatMap((name) => {
        const count = this.#counts.get(name);
        return count === undefined ? [] : [{ name, ...count }];
      }),
    };
  }
}
