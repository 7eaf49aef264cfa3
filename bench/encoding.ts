/** How fast a typical call's record is encoded: compiled encoder beside protobuf-es. Ratios within one run. */
import { compileEncoder, create, type RecordMessage, RecordSchema, toBinary } from "@narthex/contracts";

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

const encode = compileEncoder<RecordMessage>(RecordSchema);

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

const init = withBigints(plain) as Parameters<typeof create<typeof RecordSchema>>[1];
const runs = { compiled: () => encode(plain), "protobuf-es": () => toBinary(RecordSchema, create(RecordSchema, init)) };
const medians = new Map<string, number>();
for (const [name, run] of Object.entries(runs)) {
  const times: number[] = [];
  for (let round = 0; round < 9; round++) {
    const started = performance.now();
    for (let i = 0; i < 20_000; i++) run();
    times.push(((performance.now() - started) * 1000) / 20_000);
  }
  medians.set(name, times.sort((a, b) => a - b)[4] ?? 0);
}
const base = medians.get("protobuf-es") ?? 1;
for (const [name, median] of medians)
  console.log(`${name.padEnd(12)} ${median.toFixed(2)} us a record, ${(base / median).toFixed(1)} times protobuf-es`);
