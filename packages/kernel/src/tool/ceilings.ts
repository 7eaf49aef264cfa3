import { MAX_INLINE_RESULT_BYTES, MAX_TIMEOUT_MS } from "@narthex/contracts";
import type { Bounds } from "./tool.ts";

const MB = 1024 * 1024;

/** The maximum value of each bound that a declaration may set. Every ceiling of a tool is in this table. */
export const BOUND_CEILINGS: Readonly<Record<keyof Bounds, number>> = {
  timeoutMs: MAX_TIMEOUT_MS,
  /** Bytes of one result that a model is shown. */
  maxOutputBytes: MAX_INLINE_RESULT_BYTES,
  maxMemoryBytes: 16 * 1024 * MB,
  /** One hour on sixteen cores. */
  maxCpuMs: 16 * MAX_TIMEOUT_MS,
  maxFuel: 1_000_000_000_000,
  maxNetworkRequests: 10_000,
  maxNetworkBytes: 10 * 1024 * MB,
};

export const DECLARATION_CEILINGS = {
  /** Characters; all of them are part of the model's context. */
  description: 16_384,
  price: 1_000_000_000,
  capabilities: 100,
  redactors: 100,
  labels: 16,
  /** Every version of every tool of one registry. */
  tools: 10_000,
} as const;
