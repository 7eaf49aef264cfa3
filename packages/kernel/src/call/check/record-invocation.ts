import { ContentRole, digestRequest, MAX_ROW_CONTENT_BYTES } from "@narthex/contracts";
import { type Committed, commitContent, commitRequest } from "../../ledger/commitment.ts";
import { placeBytes } from "../../result/place-bytes.ts";
import type { BoundCall, CheckedCall } from "../call.ts";
import { chargeStored } from "../charge-stored.ts";
import { Denied, type Ending, type Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** Adds the ToolInvoked entry, with the input as content. Returns the ending if the call ends here. */
export function recordInvocation(
  call: CheckedCall,
  refused: Failed | undefined,
  kernel: KernelParts,
): Ending | undefined | Promise<undefined> {
  const ending = refused ?? chargeInput(call);
  if (ending === undefined && call.inputBytes.length > MAX_ROW_CONTENT_BYTES) {
    return storeInput(call, kernel).then((stored) => addInvokedEntry(call, kernel, call.requestDigest, stored));
  }
  addInvokedEntry(call, kernel, call.requestDigest, rowInput(call, kernel));
  return ending;
}

/**
 * Records input that is not JSON. It has no canonical form, so the request is identified by the digest of the received
 * bytes.
 */
export function recordUnreadableInput(call: BoundCall, kernel: KernelParts, refused: Failed): Failed {
  const raw = call.variant.case === "call" ? call.variant.value.input : new Uint8Array(0);
  const { name } = call.registered.tool;
  const inputDigest = kernel.secrets.recordedDigest(raw);
  const digest = digestRequest({ toolName: name, toolVersion: call.requestedVersion, inputDigest });
  addInvokedEntry(call, kernel, digest, undefined);
  return refused;
}

/** SECURITY: large input becomes a file, so it is charged like everything else that a session stores. */
function chargeInput(call: CheckedCall): Denied | undefined {
  const { length } = call.inputBytes;
  const shortfall = length > MAX_ROW_CONTENT_BYTES ? chargeStored(call, length) : undefined;
  if (shortfall === undefined) return undefined;
  const message = `the input needs ${length} stored bytes; the budget has ${shortfall.remaining} left`;
  return new Denied("BUDGET_EXCEEDED", "kernel:check", message);
}

async function storeInput(call: CheckedCall, kernel: KernelParts): Promise<Committed> {
  const placed = await placeBytes(call.inputBytes, call.inputDigest, kernel.contentStore);
  call.trail.storedInputBytes = placed.size;
  return commitContent({ role: ContentRole.INPUT, ...placed, labels: call.live.labels }, kernel.random);
}

/**
 * SECURITY: refused input is stored only if it is small, so that input which no tool would accept cannot fill the disk.
 */
function rowInput({ inputBytes, inputDigest, live }: CheckedCall, kernel: KernelParts): Committed | undefined {
  if (inputBytes.length > MAX_ROW_CONTENT_BYTES) return undefined;
  // SECURITY: the input of a labelled session carries the same labels as the results it receives.
  const { labels } = live;
  const content = { role: ContentRole.INPUT, digest: inputDigest, bytes: inputBytes, size: inputBytes.length, labels };
  return commitContent(content, kernel.random);
}

function addInvokedEntry(
  call: BoundCall,
  kernel: KernelParts,
  requestDigest: Uint8Array,
  input: Committed | undefined,
): undefined {
  const { tool, definitionHash } = call.registered;
  const { trail } = call;
  const request = commitRequest(requestDigest, kernel.random);
  trail.input = input;
  trail.request = request;
  if (input !== undefined) trail.attach(input.item);
  trail.attach(request.item);
  trail.add({
    case: "toolInvoked",
    value: {
      toolName: tool.name,
      toolVersion: tool.version,
      definitionHash,
      inputCommitment: input?.commitment,
      requestCommitment: request.commitment,
      door: call.incoming.door,
      isolation: tool.isolation,
      effects: tool.effects,
      safetyTier: tool.tier,
      determinism: tool.determinism,
    },
  });
}
