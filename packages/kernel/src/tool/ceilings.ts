import { MAX_INLINE_RESULT_BYTES, MAX_TIMEOUT_MS } from "@narthex/contracts";
import type { Bounds } from "./tool.ts";

const MB = 1024 * 1024;

/** The most any declaration may ask for. Every ceiling of a tool is in this table. */
export const BOUND_CEILINGS: Readonly<Record<keyof Bounds, number>> = {
  timeoutMs: MAX_TIMEOUT_MS,
  /** What a model is shown of one result. */
  maxOutputBytes: MAX_INLINE_RESULT_BYTES,
  maxMemoryBytes: 16 * 1024 * MB,
  /** One hour on sixteen cores. */
  maxCpuMs: 16 * MAX_TIMEOUT_MS,
  maxFuel: 1_000_000_000_000,
  maxNetworkRequests: 10_000,
  maxNetworkBytes: 10 * 1024 * MB,
};

export const DECLARATION_CEILINGS = {
  /** Characters; all of them are put before a model. */
  description: 16_384,
  price: 1_000_000_000,
  capabilities: 100,
  redactors: 100,
  labels: 16,
  /** Every version of every tool of one registry. */
  tools: 10_000,
} as const;
