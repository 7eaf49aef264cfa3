import type { Metered } from "@narthex/meter";
import type { LoadOptions } from "./messages.ts";

type Accepted = Extract<Metered, { readonly ok: true }>;

/** A module that was metered and compiled. */
export interface LoadedModule {
  readonly module: WebAssembly.Module;
  /** What the meter added to its exports. */
  readonly added: Accepted["exports"];
  readonly memoryPages: number;
}

/** What the host's main thread hands to one of its others, which does one thing at a time. */
export type ThreadRequest =
  | { readonly type: "load"; readonly original: Uint8Array; readonly options: LoadOptions }
  | {
      readonly type: "run";
      readonly id: number;
      readonly key: string;
      /** Where the thread does not have it yet. */
      readonly loaded: LoadedModule | undefined;
      readonly fuel: number;
      readonly input: Uint8Array;
    }
  | { readonly type: "answer"; readonly status: number; readonly bytes: Uint8Array }
  /** Not to be used any more. */
  | { readonly type: "forget"; readonly key: string };

export type ThreadReply =
  | {
      readonly type: "loaded";
      readonly loaded: LoadedModule;
      readonly declaration: Uint8Array | undefined;
      readonly cpuMs: number;
    }
  | { readonly type: "rejected"; readonly reason: string; readonly message: string; readonly cpuMs: number }
  /** A run is over, and the thread itself is about to say how it ended. */
  | { readonly type: "ended" };
