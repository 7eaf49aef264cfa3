import {
  blake3,
  canonicalJsonBytes,
  ContentRole,
  digestRequest,
  isKernelError,
  JsonSyntaxError,
  type JsonValue,
  MAX_CALL_INPUT_BYTES,
  parseJson,
  type Violation,
} from "@narthex/contracts";
import { commitContent, commitRequest } from "../../ledger/commitment.ts";
import { placeBytes } from "../../result/place-bytes.ts";
import type { BoundCall, CheckedCall } from "../call.ts";
import { type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { findSecretReferences } from "./secret-references.ts";
import { variantInput } from "./variant-input.ts";

/** Input against the schema, all errors at once; then the one canonical form that everything later sees. */
export async function check(call: BoundCall, kernel: KernelParts): Promise<CheckedCall | Ending> {
  const parsed = readInput(call);
  if (parsed instanceof Failed) return unreadable(call, kernel, parsed);
  const { tool, inputSchema } = call.registered;
  const input = inputSchema.applyDefaults(parsed);
  const violations = [...inputSchema.check(input), ...findSecretReferences(input)];
  const inputBytes = canonicalJsonBytes(tool.canonicalInput === undefined ? input : tool.canonicalInput(input));
  if (inputBytes.length > MAX_CALL_INPUT_BYTES) {
    violations.push({ field: "$", rule: "max_length", message: `the input is larger than ${MAX_CALL_INPUT_BYTES} bytes` });
  }
  const inputDigest = blake3(inputBytes);
  const requestDigest = digestRequest({ toolName: tool.name, toolVersion: call.askedVersion, inputDigest });
  await invoked(call, kernel, inputBytes, inputDigest, requestDigest);
  if (violations.length > 0) return invalidInput(call, violations);
  return { ...call, input, inputBytes, inputDigest, requestDigest };
}

function readInput(call: BoundCall): JsonValue | Failed {
  try {
    return call.variant.case === "call" ? parseJson(call.variant.value.input) : variantInput(call.variant);
  } catch (fault) {
    if (fault instanceof JsonSyntaxError) {
      return invalidInput(call, [{ field: `$${fault.path}`, rule: fault.rule, message: fault.message }]);
    }
    if (isKernelError(fault)) return invalidInput(call, fault.violations);
    throw fault;
  }
}

/** The message a model sees: every problem, and which tool it was. */
function invalidInput(call: BoundCall, violations: readonly Violation[]): Failed {
  const shown = violations.slice(0, 10).map((violation) => violation.message);
  const more = violations.length > shown.length ? ` and ${violations.length - shown.length} more` : "";
  return new Failed("INVALID_INPUT", `\`${call.registered.tool.name}\`: ${shown.join("; ")}${more}`, { violations });
}

async function invoked(
  call: BoundCall,
  kernel: KernelParts,
  inputBytes: Uint8Array,
  inputDigest: Uint8Array,
  requestDigest: Uint8Array,
): Promise<void> {
  const { tool, definitionHash } = call.registered;
  const { trail } = call;
  const placed = await placeBytes(inputBytes, inputDigest, kernel.contentStore);
  const input = commitContent({ role: ContentRole.INPUT, ...placed }, kernel.random);
  const request = commitRequest(requestDigest, kernel.random);
  trail.request = request;
  trail.attach(input.item);
  trail.attach(request.item);
  trail.add({
    case: "toolInvoked",
    value: {
      toolName: tool.name,
      toolVersion: tool.version,
      definitionHash,
      inputCommitment: input.commitment,
      requestCommitment: request.commitment,
      door: call.frame.door,
      isolation: tool.isolation,
      effects: tool.effects,
      safetyTier: tool.tier,
      determinism: tool.determinism,
    },
  });
}

/** Bytes that are no JSON have no canonical form: the request is known by the digest of what came. */
function unreadable(call: BoundCall, kernel: KernelParts, failed: Failed): Failed {
  const { tool, definitionHash } = call.registered;
  const raw = call.variant.case === "call" ? call.variant.value.input : new Uint8Array(0);
  const digest = digestRequest({ toolName: tool.name, toolVersion: call.askedVersion, inputDigest: blake3(raw) });
  const request = commitRequest(digest, kernel.random);
  call.trail.request = request;
  call.trail.attach(request.item);
  call.trail.add({
    case: "toolInvoked",
    value: {
      toolName: tool.name,
      toolVersion: tool.version,
      definitionHash,
      requestCommitment: request.commitment,
      door: call.frame.door,
      isolation: tool.isolation,
    },
  });
  return failed;
}
