import { blake3, ContentPlace, type Violation } from "@narthex/contracts";
import { explainInvalidOutput } from "../../result/invalid-output.ts";
import { createModelView } from "../../result/model-view.ts";
import { plainText } from "../../result/plain-text.ts";
import { isViolations, type NormalisedOutput, normaliseOutput } from "../../result/normalise-output.ts";
import { type PlacedBytes, placeBytes } from "../../result/place-bytes.ts";
import { holdsSecret } from "../../secret/secret-search.ts";
import type { Redactor } from "../../tool/tool.ts";
import type { InvokedCall, KeptCall } from "../call.ts";
import { chargeResult } from "../charge-stored.ts";
import { type Ending, Failed } from "../ending.ts";
import { redactorsForCaller, redactorsForRecord } from "../call-redactors.ts";
import type { OutputCollector } from "../output-collector.ts";
import { adoptWorkspaceLabels } from "../adopt-labels.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** Validates, redacts, normalises, hashes and stores the result; creates the view for a model; joins labels. */
export function keep(call: InvokedCall, kernel: KernelParts): KeptCall | Ending | Promise<KeptCall | Ending> {
  const kept = call.gathered === undefined ? keepOutput(call, kernel) : keepStream(call, call.gathered);
  return kept instanceof Promise ? kept.then((ready) => finish(call, ready, kernel)) : finish(call, kept, kernel);
}

function finish(call: InvokedCall, kept: Kept | Failed, kernel: KernelParts): KeptCall | Ending {
  if (kept instanceof Failed) return kept;
  const { tool } = call.registered;
  const view = createModelView(
    { type: tool.resultType, ...kept.returned },
    { maxBytes: kernel.viewBytesOf(tool), firstLine: tool.firstLine?.(call.input), parts: plainText(tool, kept.raw) },
  );
  adoptWorkspaceLabels(call.trail, call.live.session.workspace, kernel);
  call.trail.addLabels(call.live.labels);
  return { ...call, ...kept, view: view.text, cut: view.cut, labels: call.trail.labels };
}

type Kept = Pick<KeptCall, "raw" | "result" | "returned">;

function keepOutput(call: InvokedCall, kernel: KernelParts): Kept | Failed | Promise<Kept> {
  const hidden = redactorsForCaller(call, kernel);
  const normalised = normaliseOutput(call.registered, call.output, hidden);
  if (isViolations(normalised)) return invalidOutput(call, normalised);
  const { raw, bytes } = normalised;
  chargeResult(call, bytes.length);
  const stored = recordedForm(call, normalised, hidden, kernel);
  if (stored === undefined) return withhold(call, normalised);
  const digest = blake3(bytes);
  const placed = placeBytes(stored, stored === bytes ? digest : blake3(stored), kernel.contentStore);
  const keptAt = ({ digest: of, size, place }: PlacedBytes): Kept => {
    const result = { digest: of, size, place, head: stored };
    if (stored === bytes) return { raw, result, returned: result };
    const given = { digest, size: bytes.length, head: bytes, bytes };
    call.trail.keepUnstored(given);
    return { raw, result, returned: given };
  };
  return placed instanceof Promise ? placed.then(keptAt) : keptAt(placed);
}

/**
 * Returns the form of a result to store: the very same bytes, or those without secrets. Undefined if only its hash is
 * stored.
 */
function recordedForm(
  call: InvokedCall,
  { raw, bytes }: NormalisedOutput,
  hidden: readonly Redactor[],
  kernel: KernelParts,
): Uint8Array | undefined {
  if (call.trail.isWithheld) return undefined;
  const stored = redactorsForRecord(call, kernel);
  if (stored === hidden || !holdsSecret(bytes, stored)) return bytes;
  const redacted = normaliseOutput(call.registered, raw, stored);
  return isViolations(redacted) || holdsSecret(redacted.bytes, stored) ? undefined : redacted.bytes;
}

function withhold(call: InvokedCall, { raw, bytes }: NormalisedOutput): Kept {
  const given = { digest: blake3(bytes), size: bytes.length, head: bytes, bytes };
  call.trail.keepUnstored(given);
  const { digest, size } = given;
  return { raw, result: { digest, size, place: ContentPlace.NONE, head: new Uint8Array(0) }, returned: given };
}

/** Keeps a stream, which was redacted and written as it arrived; what needs the whole stream is checked first. */
async function keepStream(call: InvokedCall, gathered: OutputCollector): Promise<Kept | Failed> {
  try {
    const violations = checkStream(call, gathered);
    if (violations.length === 0) {
      const { stored, returned } = await gathered.finish();
      return { raw: returned.head, result: stored, returned };
    }
    await gathered.abort();
    return invalidOutput(call, violations);
  } catch (fault) {
    await gathered.abort();
    throw fault;
  }
}

const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** INVARIANT: a stream with a schema was gathered only up to the size of its head, so the head is all of it. */
function checkStream(call: InvokedCall, gathered: OutputCollector): readonly Violation[] {
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
