import { blake3, type Violation } from "@narthex/contracts";
import type { CollectedContent, ContentCollector } from "../../result/content-collector.ts";
import { explainInvalidOutput } from "../../result/invalid-output.ts";
import { createModelView } from "../../result/model-view.ts";
import { isViolations, normaliseOutput } from "../../result/normalise-output.ts";
import { type PlacedBytes, placeBytes } from "../../result/place-bytes.ts";
import type { InvokedCall, KeptCall } from "../call.ts";
import { chargeResult } from "../charge-stored.ts";
import { type Ending, Failed } from "../ending.ts";
import { takeOnWorkspace } from "../take-on-labels.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** Validates, redacts, normalises, hashes and places the result; makes what a model is shown; joins labels. */
export function keep(call: InvokedCall, kernel: KernelParts): KeptCall | Ending | Promise<KeptCall | Ending> {
  const kept = call.gathered === undefined ? keepOutput(call, kernel) : keepStream(call, call.gathered);
  return kept instanceof Promise ? kept.then((ready) => finish(call, ready, kernel)) : finish(call, kept, kernel);
}

function finish(call: InvokedCall, kept: Kept | Failed, kernel: KernelParts): KeptCall | Ending {
  if (kept instanceof Failed) return kept;
  const { tool } = call.registered;
  const view = createModelView(
    { type: tool.resultType, ...kept.result },
    kernel.viewBytesOf(tool),
    tool.firstLine?.(call.input),
  );
  takeOnWorkspace(call.trail, call.live.session.workspace, kernel);
  call.trail.addLabels(call.live.labels);
  return { ...call, ...kept, view: view.text, cut: view.cut, labels: call.trail.labels };
}

type Kept = Pick<KeptCall, "raw" | "result">;

function keepOutput(call: InvokedCall, kernel: KernelParts): Kept | Failed | Promise<Kept> {
  const normalised = normaliseOutput(call.registered, call.output);
  if (isViolations(normalised)) return invalidOutput(call, normalised);
  const { raw, bytes } = normalised;
  chargeResult(call, bytes.length);
  const placed = placeBytes(bytes, blake3(bytes), kernel.contentStore);
  const keptAt = ({ digest, size, place }: PlacedBytes): Kept => ({
    raw,
    result: { digest, size, place, head: bytes },
  });
  return placed instanceof Promise ? placed.then(keptAt) : keptAt(placed);
}

/** A stream was redacted and written as it came; what needs its end is checked before it is kept. */
async function keepStream(call: InvokedCall, gathered: ContentCollector): Promise<Kept | Failed> {
  try {
    const violations = checkStream(call, gathered);
    if (violations.length === 0) {
      const result: CollectedContent = await gathered.finish();
      return { raw: result.head, result };
    }
    await gathered.abort();
    return invalidOutput(call, violations);
  } catch (fault) {
    await gathered.abort();
    throw fault;
  }
}

const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** INVARIANT: a stream with a schema was gathered only up to what its head holds, so the head is all of it. */
function checkStream(call: InvokedCall, gathered: ContentCollector): readonly Violation[] {
  const { outputSchema } = call.registered;
  if (outputSchema === undefined) return [];
  try {
    return outputSchema.check(strictText.decode(gathered.head()));
  } catch {
    return [{ field: "$", rule: "type", message: "the stream is not text in UTF-8" }];
  }
}

function invalidOutput(call: InvokedCall, violations: readonly Violation[]): Failed {
  const { message, violations: kept } = explainInvalidOutput(call.registered.id, violations);
  return new Failed("INVALID_OUTPUT", message, { violations: kept });
}
