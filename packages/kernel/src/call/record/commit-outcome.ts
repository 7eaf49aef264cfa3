import { blake3, ContentPlace, ContentRole } from "@narthex/contracts";
import { commitContent } from "../../ledger/commitment.ts";
import type { KeptCall } from "../call.ts";
import type { CallTrail } from "../call-trail.ts";
import type { FileTrace } from "../file-trace.ts";
import { Acknowledged, type Ending, isEnding, Repeated } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { placeBytes } from "../../result/place-bytes.ts";

/** Attaches the content that the outcome names: the result, and the request and proof of earlier records. */
export function commitOutcome(trail: CallTrail, end: KeptCall | Ending, kernel: KernelParts): void {
  if (end instanceof Repeated || end instanceof Acknowledged) return;
  if (!isEnding(end)) commitResult(trail, end, kernel);
  commitOutputs(trail, kernel);
  const { request, proof } = trail.earlierCommitments();
  if (request !== undefined) trail.attach(request.item);
  if (proof !== undefined) trail.attach({ ...proof.item, place: ContentPlace.ELSEWHERE, data: undefined });
}

/** SECURITY: file names are content, as arguments are, so that they can be erased. */
export async function commitFiles(trail: CallTrail, files: FileTrace, kernel: KernelParts): Promise<void> {
  const bytes = files.encode(kernel.secrets.redactorsForStorage(trail.tool?.tool.redactors ?? []));
  const placed = await placeBytes(bytes, blake3(bytes), kernel.contentStore);
  trail.fileList = commitContent({ role: ContentRole.FILES, ...placed }, kernel.random);
  trail.attach(trail.fileList.item);
}

/** Attaches the output of programs, whether or not their call succeeded. */
function commitOutputs(trail: CallTrail, kernel: KernelParts): void {
  if (trail.outputs.length === 0) return;
  trail.outputCommitments = trail.outputs.map(({ digest, size, place, head }) => {
    const bytes = place === ContentPlace.ROW ? { bytes: head } : {};
    const content = { role: ContentRole.OUTPUT, digest, size, place, labels: trail.labels, ...bytes };
    const committed = commitContent(content, kernel.random);
    trail.attach(committed.item);
    return committed;
  });
}

function commitResult(trail: CallTrail, kept: KeptCall, kernel: KernelParts): void {
  const { digest, size, place, head } = kept.result;
  const bytes = place === ContentPlace.ROW ? { bytes: head } : {};
  const committed = commitContent(
    { role: ContentRole.RESULT, digest, size, place, labels: kept.labels, ...bytes },
    kernel.random,
  );
  trail.attach(committed.item);
  trail.result = committed;
}
