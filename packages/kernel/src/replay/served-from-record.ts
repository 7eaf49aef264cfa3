import type { ServedReason } from "./replay-report.ts";

/** Thrown at a tool that asks for what no record holds: its call is taken from the record instead. */
export class ServedFromRecord extends Error {
  override readonly name: string = "ServedFromRecord";
  readonly reason: ServedReason;

  constructor(reason: ServedReason) {
    super(`a replay does not reach for this (${reason})`);
    this.reason = reason;
  }
}
