import { compileEncoder, create, type RecordMessage, RecordSchema, toBinary } from "@narthex/contracts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";

const COUNT = 30_000;

/** How fast the compiled encoder writes the record of a call, beside protobuf-es. */
export const recordEncoding: Measurement = async ({ rounds, scale }) => {
  const encode = compileEncoder<RecordMessage>(RecordSchema);
  const init = withBigints(plain) as Parameters<typeof create<typeof RecordSchema>>[1];
  if (Buffer.compare(encode(plain), toBinary(RecordSchema, create(RecordSchema, init))) !== 0) {
    throw new Error("the two encoders disagree");
  }
  const count = Math.max(1000, Math.round(COUNT * scale));
  const rate = (run: () => unknown) => (): number => {
    const startedMs = performance.now();
    for (let done = 0; done < count; done++) run();
    return (count * 1000) / (performance.now() - startedMs);
  };
  const rates = await interleave(rounds, {
    compiled: rate(() => encode(plain)),
    protobufEs: rate(() => toBinary(RecordSchema, create(RecordSchema, init))),
  });
  return {
    rows: [
      {
        what: "records encoded",
        ours: { value: Math.max(...rates.compiled), unit: "/s" },
        beside: { value: Math.max(...rates.protobufEs), unit: "/s", name: "protobuf-es" },
        ratio: ratioOf(rates.compiled, rates.protobufEs),
      },
    ],
    raw: { "compiled, records/s": rates.compiled, "protobuf-es, records/s": rates.protobufEs },
  };
};

const hash = new Uint8Array(32).fill(7);
const plain = {
  format: 1,
  index: 123_456,
  chain: "ses_aaaaaaaaaaaaaaaaaaaa",
  sequence: 1234,
  logicalTimeMs: 946_684_800_000,
  wallTimeMs: 1_800_000_000_000,
  previousHash: hash,
  requestId: "req_aaaaaaaaaaaaaaaaaaaa",
  entries: [
    {
      kind: {
        case: "toolInvoked",
        value: {
          toolName: "echo",
          toolVersion: "1.0.0",
          definitionHash: hash,
          inputCommitment: hash,
          requestCommitment: hash,
          door: "framed",
          isolation: "inline",
          safetyTier: "read_only",
          determinism: "pure",
        },
      },
    },
    { kind: { case: "capabilityCheck", value: { granted: true, leaseId: "lea_aaaaaaaaaaaaaaaaaaaa" } } },
    {
      kind: {
        case: "policyDecision",
        value: {
          allowed: true,
          ruleIds: ["echo"],
          policyHash: hash,
          proofCommitment: hash,
          policyRequestCommitment: hash,
          approve: "none",
        },
      },
    },
    {
      kind: {
        case: "toolStarted",
        value: { callNumber: 12, reserved: [{ dimension: "calls", amount: 1 }], timeoutMs: 30_000 },
      },
    },
    {
      kind: {
        case: "toolCompleted",
        value: {
          success: true,
          requestCommitment: hash,
          proofCommitment: hash,
          resultCommitment: hash,
          resultSize: 20,
          resultType: "json",
          durationMs: 1,
        },
      },
    },
  ],
} as const;

function withBigints(value: unknown): unknown {
  if (value instanceof Uint8Array || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withBigints);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      WIDE.has(key) && typeof item === "number" ? BigInt(item) : withBigints(item),
    ]),
  );
}
const WIDE = new Set([
  "index",
  "sequence",
  "logicalTimeMs",
  "wallTimeMs",
  "callNumber",
  "amount",
  "timeoutMs",
  "resultSize",
  "durationMs",
]);
