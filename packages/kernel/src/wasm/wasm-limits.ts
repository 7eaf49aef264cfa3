import type { Bounds } from "../tool/tool.ts";
import type { WasmLimits } from "./wasm-runner.ts";

const MB = 1024 * 1024;

export const WASM_PRESET_NAMES = ["minimal", "standard", "generous"] as const;
export type WasmPresetName = (typeof WASM_PRESET_NAMES)[number];

export interface WasmPreset {
  readonly fuel: number;
  readonly memoryBytes: number;
  readonly timeoutMs: number;
}

/** Sets of limits; a tool that names none gets `standard`. */
export const WASM_PRESETS: Readonly<Record<WasmPresetName, WasmPreset>> = {
  minimal: { fuel: 1e9, memoryBytes: 16 * MB, timeoutMs: 5000 },
  standard: { fuel: 1e10, memoryBytes: 64 * MB, timeoutMs: 30_000 },
  generous: { fuel: 1e11, memoryBytes: 256 * MB, timeoutMs: 300_000 },
};

/** Maximum memory of one module: addresses have 31 bits. */
export const WASM_MEMORY_CEILING = 1024 * MB;

/** Memory is allocated in pages of this size. */
export const WASM_PAGE_BYTES = 65_536;

export function boundsOf({ fuel, memoryBytes, timeoutMs }: WasmPreset): Partial<Bounds> {
  return { maxFuel: fuel, maxMemoryBytes: memoryBytes, timeoutMs };
}

/** Limits of a module; limits that the tool's bounds do not set are those of the preset `standard`. */
export function moduleLimits({ maxFuel, maxMemoryBytes }: Bounds): WasmLimits {
  const { fuel, memoryBytes } = WASM_PRESETS.standard;
  return { fuel: maxFuel ?? fuel, memoryBytes: Math.min(maxMemoryBytes ?? memoryBytes, WASM_MEMORY_CEILING) };
}
