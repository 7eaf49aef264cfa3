import type { Fingerprint } from "./used-request-ids.ts";
import type { RunningCall } from "./running-call.ts";

const FIRST_SLOTS = 16;

/**
 * The running calls of a session, by request id.
 *
 * Not a Map: a Map with many inserts and deletes replaces its table again and again, and every outgrown table keeps its
 * calls from being collected with the young generation. Here a slot is emptied when its call leaves.
 *
 * SECURITY: callers choose request ids. Slots are chosen by keyed fingerprints, so an attacker cannot choose ids that
 * collide.
 */
export class RunningCalls {
  #calls: (RunningCall | undefined)[] = NO_SLOTS;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(requestId: string, fingerprint: Fingerprint): RunningCall | undefined {
    return this.#size === 0 ? undefined : this.#calls[this.#slotOf(requestId, fingerprint)];
  }

  add(call: RunningCall): void {
    if (this.#calls.length === 0) this.#calls = emptySlots(FIRST_SLOTS);
    const slot = this.#slotOf(call.requestId, call.fingerprint);
    if (this.#calls[slot] === undefined) this.#size++;
    this.#calls[slot] = call;
    if (this.#size * 2 > this.#calls.length) this.#grow();
  }

  /** Removes exactly this call, if it is present. */
  delete(call: RunningCall): void {
    if (this.#size === 0) return;
    let free = this.#slotOf(call.requestId, call.fingerprint);
    if (this.#calls[free] !== call) return;
    this.#size--;
    const mask = this.#calls.length - 1;
    // Calls that were displaced by the removed one move up, so that every search still ends at an empty slot.
    let slot = (free + 1) & mask;
    for (let next = this.#calls[slot]; next !== undefined; next = this.#calls[slot]) {
      const distance = (slot - next.fingerprint[0]) & mask;
      if (distance >= ((slot - free) & mask)) {
        this.#calls[free] = next;
        free = slot;
      }
      slot = (slot + 1) & mask;
    }
    this.#calls[free] = undefined;
  }

  /** The calls running now, in no particular order. */
  list(): RunningCall[] {
    return this.#calls.filter((call) => call !== undefined);
  }

  /** Slot that holds the call, or the empty slot where it belongs. */
  #slotOf(requestId: string, [low]: Fingerprint): number {
    const mask = this.#calls.length - 1;
    let slot = low & mask;
    for (let found = this.#calls[slot]; found !== undefined && found.requestId !== requestId; ) {
      slot = (slot + 1) & mask;
      found = this.#calls[slot];
    }
    return slot;
  }

  #grow(): void {
    const calls = this.#calls;
    this.#calls = emptySlots(calls.length * 2);
    for (const call of calls) {
      if (call !== undefined) this.#calls[this.#slotOf(call.requestId, call.fingerprint)] = call;
    }
  }
}

/** Slots of a session that has not made a call. */
const NO_SLOTS: (RunningCall | undefined)[] = [];

function emptySlots(count: number): (RunningCall | undefined)[] {
  return new Array<RunningCall | undefined>(count).fill(undefined);
}
