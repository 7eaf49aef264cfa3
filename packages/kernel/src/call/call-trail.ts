import type { Reservation } from "../budget/budget-account.ts";
import type { RunningCall, Waiter } from "../journal/running-call.ts";
import type { Committed } from "../ledger/commitment.ts";
import type { ContentDraft, EntryDraft } from "../ledger/record-draft.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { LiveSession } from "../session/live-session.ts";

/** What a call leaves behind as it goes: the entries and content not yet written, and what must be released. */
export class CallTrail {
  requestId = "";
  dedupeKey = "";
  /** The session, once its token was proven and it is open. */
  live: LiveSession | undefined;
  toolName = "";
  toolVersion = "";
  tool: RegisteredTool | undefined;
  request: Committed | undefined;
  proof: Committed | undefined;
  proofBytes: Uint8Array | undefined;
  result: Committed | undefined;
  running: RunningCall | undefined;
  /** The caller's own place among those who wait for the call. */
  waiter: Waiter | undefined;
  readonly reservations: Reservation[] = [];
  /** The call's number in its session; 0 until it is granted. */
  callNumber = 0;
  /** The record that holds the intent; undefined if none was needed or written. */
  intentIndex: number | undefined;
  /** The tool was started with leave to have effects. */
  effectsPossible = false;
  /** Labels of everything the call read. */
  labels: readonly string[] = [];
  startedAtMs: number;
  #entries: EntryDraft[] = [];
  #content: ContentDraft[] = [];

  constructor(startedAtMs: number) {
    this.startedAtMs = startedAtMs;
  }

  /** How many entries wait to be written. */
  get pending(): number {
    return this.#entries.length;
  }

  add(entry: EntryDraft): void {
    this.#entries.push(entry);
  }

  attach(item: ContentDraft): void {
    this.#content.push(item);
  }

  /** Hands over what has gathered since the last time. */
  take(): { readonly entries: EntryDraft[]; readonly content: ContentDraft[] } {
    const taken = { entries: this.#entries, content: this.#content };
    this.#entries = [];
    this.#content = [];
    return taken;
  }

  addLabels(labels: readonly string[]): void {
    const fresh = labels.filter((label) => !this.labels.includes(label));
    if (fresh.length > 0) this.labels = [...this.labels, ...fresh].sort();
  }
}
