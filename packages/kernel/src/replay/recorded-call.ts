import {
  type ContentItem,
  ContentPlace,
  type ContentRole,
  commitTo,
  equalBytes,
  HASH_SIZE,
  type Outcome,
  type PolicyDecision,
  type ToolInvoked,
  type ToolStarted,
} from "@narthex/contracts";

export type OutcomeKind = "completed" | "failed" | "timed_out" | "denied";

/** A call assembled from its records, from its first entry to its outcome. */
export class RecordedCall {
  readonly requestId: string;
  readonly firstIndex: number;
  readonly invoked: ToolInvoked;
  /** Each decision with the index of its record. */
  readonly decisions: { readonly index: number; readonly decision: PolicyDecision }[] = [];
  /** Code of the last capability check if it refused the call; otherwise empty. */
  refusedCode = "";
  started: ToolStarted | undefined;
  outcome: { readonly kind: OutcomeKind; readonly value: Outcome } | undefined;
  outcomeIndex = 0;
  /** The outcome was determined after a crash. */
  isSettled = false;
  readonly #items: ContentItem[] = [];
  readonly #commitments = new Map<ContentItem, Uint8Array>();

  constructor(requestId: string, firstIndex: number, invoked: ToolInvoked) {
    this.requestId = requestId;
    this.firstIndex = firstIndex;
    this.invoked = invoked;
  }

  get tool(): string {
    return `${this.invoked.toolName}@${this.invoked.toolVersion}`;
  }

  addItems(items: readonly ContentItem[]): void {
    this.#items.push(...items);
  }

  /** Finds the item that opens a commitment; if several do, preferably one that holds the bytes. */
  open(role: ContentRole, commitment: Uint8Array): ContentItem | undefined {
    let found: ContentItem | undefined;
    for (const item of this.#items) {
      if (item.role !== role || item.digest.length !== HASH_SIZE || item.nonce.length !== HASH_SIZE) continue;
      if (found !== undefined && item.place !== ContentPlace.ROW) continue;
      if (equalBytes(this.#commitmentOf(item), commitment)) found = item;
    }
    return found;
  }

  /** Cached, because several checks of a call need it. */
  #commitmentOf(item: ContentItem): Uint8Array {
    let commitment = this.#commitments.get(item);
    if (commitment === undefined) {
      commitment = commitTo(item.digest, item.nonce);
      this.#commitments.set(item, commitment);
    }
    return commitment;
  }

  itemsOf(role: ContentRole): readonly ContentItem[] {
    return this.#items.filter((item) => item.role === role);
  }
}
