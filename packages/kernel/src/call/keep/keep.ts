import { blake3, ContentPlace, type Violation } from "@narthex/contracts";
import type { CollectedContent } from "../../result/content-collector.ts";
import { createModelView } from "../../result/model-view.ts";
import { type NormalisedOutput, normaliseOutput } from "../../result/normalise-output.ts";
import { placeBytes } from "../../result/place-bytes.ts";
import type { InvokedCall, KeptCall } from "../call.ts";
import { chargeStored } from "../charge-stored.ts";
import { type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** Validates, redacts, normalises, hashes and places the result; makes what a model is shown; joins labels. */
export async function keep(call: InvokedCall, kernel: KernelParts): Promise<KeptCall | Ending> {
  const kept = call.collected === undefined ? await keepOutput(call, kernel) : keepStream(call, call.collected);
  if (kept instanceof Failed) return kept;
  const { tool } = call.registered;
  const viewBytes = Math.min(tool.bounds.maxOutputBytes, kernel.viewBytes);
  const view = createModelView({ type: tool.resultType, ...kept.result }, viewBytes);
  call.trail.addLabels(call.live.labels);
  return { ...call, ...kept, view: view.text, cut: view.cut, labels: call.trail.labels };
}

type Kept = Pick<KeptCall, "raw" | "result">;

async function keepOutput(call: InvokedCall, kernel: KernelParts): Promise<Kept | Failed> {
  const normalised = normaliseOutput(call.registered, call.output);
  if (isViolations(normalised)) return invalidOutput(call, normalised);
  const { raw, bytes } = normalised;
  chargeStored(call, bytes.length);
  const placed = await placeBytes(bytes, blake3(bytes), kernel.contentStore);
  return { raw, result: { digest: placed.digest, size: placed.size, place: placed.place, head: bytes } };
}

/** A stream was redacted, hashed and stored as it came; what is left is what needs its end. */
function keepStream(call: InvokedCall, collected: CollectedContent): Kept | Failed {
  const { tool, outputSchema } = call.registered;
  if (tool.resultType !== "stream") return invalidOutput(call, [notDeclared(tool.resultType)]);
  if (outputSchema !== undefined && collected.place === ContentPlace.ROW) {
    const text = new TextDecoder().decode(collected.head);
    const violations = outputSchema.check(text);
    if (violations.length > 0) return invalidOutput(call, violations);
  }
  return { raw: collected.head, result: collected };
}

function notDeclared(declared: string): Violation {
  return { field: "$", rule: "type", message: `the tool declared ${declared} and returned a stream` };
}

function isViolations(value: NormalisedOutput | readonly Violation[]): value is readonly Violation[] {
  return Array.isArray(value);
}

function invalidOutput(call: InvokedCall, violations: readonly Violation[]): Failed {
  const shown = violations.slice(0, 5).map((violation) => violation.message).join("; ");
  return new Failed("INVALID_OUTPUT", `\`${call.registered.id}\` returned what it did not declare: ${shown}`, { violations });
}
