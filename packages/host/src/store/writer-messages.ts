/** Messages between the store and its writer thread. */

export interface WriterData {
  readonly directory: string;
  /** Incremented and notified after every command. */
  readonly wake: Int32Array<SharedArrayBuffer>;
}

export type WriterCommand =
  | { readonly kind: "commit"; readonly memory: ArrayBuffer; readonly byteLength: number }
  | { readonly kind: "restart" }
  /** Removes rows of erased digests, given in hex, and empties the WAL; with `rewrite`, rewrites the whole file. */
  | { readonly kind: "scrub"; readonly digests: readonly string[]; readonly rewrite: boolean }
  | { readonly kind: "close" };

export type WriterResponse =
  | {
      readonly kind: "opened";
      readonly nextIndex: number;
      readonly last: { readonly hash: Uint8Array; readonly record: Uint8Array } | undefined;
    }
  /** The group is durable; its memory is returned for reuse. */
  | { readonly kind: "committed"; readonly memory: ArrayBuffer }
  /** The WAL was restarted from its beginning. */
  | { readonly kind: "restarted" }
  /** Empty on success, else the reason. */
  | { readonly kind: "scrubbed"; readonly problem: string }
  | { readonly kind: "closed" }
  /** The last response of a writer. */
  | { readonly kind: "failed"; readonly reason: string };
