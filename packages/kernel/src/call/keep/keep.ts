import { blake3, type Violation } from "@narthex/contracts";
import type { CollectedContent, ContentCollector } from "../../result/content-collector.ts";
import { createModelView } from "../../result/model-view.ts";
import { isViolations, normaliseOutput } from "../../result/normalise-output.ts";
import { placeBytes } from "../../result/place-bytes.ts";
import type { InvokedCall, KeptCall } from "../call.ts";
import { boundViolations, cutText } from "../bound-error.ts";
import { chargeResult } from "../charge-stored.ts";
import { type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** Validates, redacts, normalises, hashes and places the result; makes what a model is shown; joins labels. */
export async function keep(call: InvokedCall, kernel: KernelParts): Promise<KeptCall | Ending> {
  const kept = call.gathered === undefined ? await keepOutput(call, kernel) : await keepStream(call, call.gathered);
  if (kept instanceof Failed) return kept;
  const { tool } = call.registered;
  const view = createModelView({ type: tool.resultType, ...kept.result }, kernel.viewBytesOf(tool));
  call.trail.addLabels(call.live.labels);
  return { ...call, ...kept, view: view.text, cut: view.cut, labels: call.trail.labels };
}

type Kept = Pick<KeptCall, "raw" | "result">;

async function keepOutput(call: InvokedCall, kernel: KernelParts): Promise<Kept | Failed> {
  const normalised = normaliseOutput(call.registered, call.output);
  if (isViolations(normalised)) return invalidOutput(call, normalised);
  const { raw, bytes } = normalised;
  chargeResult(call, bytes.length);
  const placed = await placeBytes(bytes, blake3(bytes), kernel.contentStore);
  return { raw, result: { digest: placed.digest, size: placed.size, place: placed.place, head: bytes } };
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
  const kept = boundViolations(violations);
  const shown = kept.slice(0, 5).map((violation) => violation.message);
  const message = `\`${call.registered.id}\` returned what it did not declare: ${shown.join("; ")}`;
  return new Failed("INVALID_OUTPUT", cutText(message), { violations: kept });
}
