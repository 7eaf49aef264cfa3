import { CHANGES_CHAIN, watchToolChanges } from "@narthex/server";
import type { KernelConnection } from "./kernel-connection.ts";

export interface ToolWatch {
  listen(listener: () => void): void;
  /** Of a change that the kernel's own chain does not have. */
  tell(): void;
  /** Resolves when the kernel has nothing more to tell: it goes, or is gone. */
  readonly ended: Promise<void>;
}

/** Follows what a kernel records about tools and policy, from now on. */
export function createToolWatch(tailRecords: KernelConnection["tailRecords"], signal: AbortSignal): ToolWatch {
  const listeners = new Set<() => void>();
  const records = tailRecords({ fromIndex: undefined, chain: CHANGES_CHAIN, signal });
  const tell = (): void => listeners.forEach((told) => told());
  return {
    listen: (told) => void listeners.add(told),
    tell,
    ended: watchToolChanges(records, tell).catch(() => undefined),
  };
}
