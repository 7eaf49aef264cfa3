/** What the store and its writer thread say to each other. */

export interface WriterData {
  readonly directory: string;
  /** Counted up and notified after every command. */
  readonly wake: Int32Array<SharedArrayBuffer>;
}

export type WriterCommand =
  | { readonly kind: "commit"; readonly memory: ArrayBuffer; readonly byteLength: number }
  | { readonly kind: "restart" }
  /** Takes rows of erased digests away, in hex, and empties the log; with `rewrite`, the whole file is written anew. */
  | { readonly kind: "scrub"; readonly digests: readonly string[]; readonly rewrite: boolean }
  | { readonly kind: "close" };

export type WriterResponse =
  | {
      readonly kind: "opened";
      readonly nextIndex: number;
      readonly last: { readonly hash: Uint8Array; readonly record: Uint8Array } | undefined;
    }
  /** The group is durable; its memory comes back for another. */
  | { readonly kind: "committed"; readonly memory: ArrayBuffer }
  /** The log starts again from its beginning. */
  | { readonly kind: "restarted" }
  /** Empty if all is done, or why it is not. */
  | { readonly kind: "scrubbed"; readonly problem: string }
  | { readonly kind: "closed" }
  /** The last thing a writer says. */
  | { readonly kind: "failed"; readonly reason: string };
