import { type MeterReason, Rejection } from "./meter-reason.ts";

/** Opcodes of unsupported proposals. */
const REASONS: ReadonlyMap<number, MeterReason> = new Map<number, MeterReason>([
  ...[0x06, 0x07, 0x08, 0x09, 0x0a, 0x18, 0x19, 0x1f].map((opcode) => [opcode, "exceptions"] as const),
  ...[0x12, 0x13, 0x15].map((opcode) => [opcode, "tail-calls"] as const),
  ...[0x14, 0xd4, 0xd5, 0xd6].map((opcode) => [opcode, "function-references"] as const),
  [0xd3, "garbage-collection"],
  [0xfb, "garbage-collection"],
  [0xfe, "threads"],
]);

export function rejectedOpcode(opcode: number, at: number): Rejection {
  const reason = REASONS.get(opcode);
  if (reason !== undefined) return new Rejection(reason, at);
  return new Rejection("unknown-opcode", at, `0x${opcode.toString(16).padStart(2, "0")}`);
}
