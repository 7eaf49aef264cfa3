import type { Metered } from "@narthex/meter";
import type { LoadOptions } from "./messages.ts";

type Accepted = Extract<Metered, { readonly ok: true }>;

/** A metered and compiled module. */
export interface LoadedModule {
  readonly module: WebAssembly.Module;
  /** Exports added by the meter. */
  readonly added: Accepted["exports"];
  readonly memoryPages: number;
}

/** Message from the host's main thread to another thread, which handles one job at a time. */
export type ThreadRequest =
  | { readonly type: "load"; readonly original: Uint8Array; readonly options: LoadOptions }
  | {
      readonly type: "run";
      readonly id: number;
      readonly key: string;
      /** Set if the thread does not have the module yet. */
      readonly loaded: LoadedModule | undefined;
      readonly fuel: number;
      readonly input: Uint8Array;
    }
  | { readonly type: "answer"; readonly status: number; readonly bytes: Uint8Array }
  /** The module will not be used any more. */
  | { readonly type: "forget"; readonly key: string };

export type ThreadReply =
  | {
      readonly type: "loaded";
      readonly loaded: LoadedModule;
      readonly declaration: Uint8Array | undefined;
      readonly cpuMs: number;
    }
  | { readonly type: "rejected"; readonly reason: string; readonly message: string; readonly cpuMs: number }
  /** A run is over; the thread itself is about to report its result to the kernel. */
  | { readonly type: "ended" };
