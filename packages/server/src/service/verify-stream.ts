import type { MessageInitShape } from "@bufbuild/protobuf";
import type { VerifyReport, VerifyRequest, VerifyResponseSchema } from "@narthex/contracts";

export interface VerifyProgressFacts {
  readonly recordsDone: number;
  readonly recordsTotal: number;
}

/** Verifies the ledger with the independent reader; provided by the code that opens the door. */
export type Verify = (
  request: VerifyRequest,
  onProgress: (progress: VerifyProgressFacts) => void,
  signal: AbortSignal,
) => Promise<VerifyReport>;

/** Streams progress, as much of it as the client reads, then the report. */
export async function* streamVerify(
  verify: Verify,
  request: VerifyRequest,
  signal: AbortSignal,
): AsyncGenerator<MessageInitShape<typeof VerifyResponseSchema>> {
  const left = new AbortController();
  let latest: VerifyProgressFacts | undefined;
  let ended = false;
  let wake: (() => void) | undefined;
  const report = verify(
    request,
    (progress) => {
      latest = progress;
      wake?.();
    },
    AbortSignal.any([signal, left.signal]),
  ).finally(() => {
    ended = true;
    wake?.();
  });
  // It is awaited below; until then its failure must not count as unhandled.
  report.catch(() => undefined);
  try {
    while (!ended) {
      if (latest === undefined) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      const { recordsDone, recordsTotal } = latest;
      latest = undefined;
      const value = { recordsDone: BigInt(recordsDone), recordsTotal: BigInt(recordsTotal) };
      yield { event: { case: "progress", value } };
    }
    yield { event: { case: "report", value: await report } };
  } finally {
    left.abort();
  }
}
