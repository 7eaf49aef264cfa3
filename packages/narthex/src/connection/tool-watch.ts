import { CHANGES_CHAIN, watchToolChanges } from "@narthex/server";
import type { KernelConnection } from "./kernel-connection.ts";

export interface ToolWatch {
  listen(listener: () => void): void;
  /** Notifies the listeners of a change that is not in the kernel's own chain. */
  tell(): void;
  /** Resolves when the kernel is stopping or gone and reports no more changes. */
  readonly ended: Promise<void>;
}

/** Follows new records about tools and policy. */
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
