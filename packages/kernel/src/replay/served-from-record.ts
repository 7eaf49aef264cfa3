import type { ServedReason } from "./replay-report.ts";

/** Thrown when a tool needs data that no record holds: its call is then served from the record. */
export class ServedFromRecord extends Error {
  override readonly name: string = "ServedFromRecord";
  readonly reason: ServedReason;

  constructor(reason: ServedReason) {
    super(`a replay does not reach for this (${reason})`);
    this.reason = reason;
  }
}
