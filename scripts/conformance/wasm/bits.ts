import type { ScriptValue } from "./script-command.ts";

const LANES: Readonly<Record<string, readonly [width: number, kind: string]>> = {
  i8: [8, "i"],
  i16: [16, "i"],
  i32: [32, "i"],
  i64: [64, "i"],
  f32: [32, "f32"],
  f64: [64, "f64"],
};

/** The arguments that pass a value of a script: one carrier, or two for a vector. */
export function toCarriers({ type, value, laneType }: ScriptValue): unknown[] {
  if (type === "v128") {
    const bits = joinLanes(value, laneType);
    return [BigInt.asIntN(64, bits), BigInt.asIntN(64, bits >> 64n)];
  }
  const text = typeof value === "string" ? value : "0";
  if (type === "externref") return [text === "null" ? null : text];
  if (type === "funcref") return [null];
  return type === "i32" || type === "f32" ? [Number(BigInt.asIntN(32, BigInt(text)))] : [BigInt(text)];
}

/** The results of a call as text: unsigned bits for numbers, `null` or a description for references. */
export function fromCarriers(answer: unknown, types: readonly string[]): string[] {
  const carriers: unknown[] = answer === undefined ? [] : Array.isArray(answer) ? answer : [answer];
  let at = 0;
  return types.map((type) => {
    const carrier = carriers[at++];
    if (type === "v128") {
      const high = BigInt.asUintN(64, BigInt(String(carriers[at++])));
      return String((high << 64n) | BigInt.asUintN(64, BigInt(String(carrier))));
    }
    if (type === "externref") return typeof carrier === "string" ? `reference ${carrier}` : "null";
    if (type === "funcref") return carrier === null ? "null" : "reference";
    return String(BigInt.asUintN(type === "i32" || type === "f32" ? 32 : 64, BigInt(String(carrier))));
  });
}

/** Whether the bits match the script's expectation. */
export function isExpected(expected: ScriptValue, actual: string): boolean {
  const { type, value, laneType } = expected;
  if (type === "externref" || type === "funcref") {
    if (value === "null") return actual === "null";
    return typeof value === "string" && type === "externref" ? actual === `reference ${value}` : actual !== "null";
  }
  if (type === "v128") {
    const [width = 32, kind = "i"] = LANES[laneType ?? "i32"] ?? [];
    const lanes = typeof value === "object" ? value : [];
    return lanes.every((lane, index) => {
      const bits = BigInt.asUintN(width, BigInt(actual) >> BigInt(index * width));
      return isExpectedNumber(kind, lane, bits, width);
    });
  }
  const bits = BigInt(actual);
  return isExpectedNumber(
    type,
    typeof value === "string" ? value : "",
    bits,
    type === "i32" || type === "f32" ? 32 : 64,
  );
}

function isExpectedNumber(kind: string, wanted: string, bits: bigint, width: number): boolean {
  if (wanted === "nan:canonical") return isCanonicalNan(kind, bits);
  if (wanted === "nan:arithmetic") return isArithmeticNan(kind, bits);
  return BigInt.asUintN(width, BigInt(wanted)) === bits;
}

/** With either sign. */
export function isCanonicalNan(type: string, bits: bigint): boolean {
  return type === "f32" ? (bits & 0x7fff_ffffn) === 0x7fc0_0000n : (bits & 0x7fff_ffff_ffff_ffffn) === QUIET_64;
}

export function isArithmeticNan(type: string, bits: bigint): boolean {
  return type === "f32" ? (bits & 0x7fc0_0000n) === 0x7fc0_0000n : (bits & QUIET_64) === QUIET_64;
}

const QUIET_64 = 0x7ff8_0000_0000_0000n;

function joinLanes(value: ScriptValue["value"], laneType: string | undefined): bigint {
  const [width = 32] = LANES[laneType ?? "i32"] ?? [];
  const lanes = typeof value === "object" ? value : [];
  return lanes.reduce((bits, lane, index) => bits | (laneBits(lane, width) << BigInt(index * width)), 0n);
}

function laneBits(lane: string, width: number): bigint {
  if (lane.startsWith("nan:")) return width === 32 ? 0x7fc0_0000n : QUIET_64;
  return BigInt.asUintN(width, BigInt(lane));
}
