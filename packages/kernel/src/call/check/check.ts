import {
  blake3,
  canonicalJson,
  checkJsonForm,
  digestRequest,
  isJsonObject,
  isKernelError,
  JsonSyntaxError,
  type JsonValue,
  JsonValueError,
  MAX_CALL_INPUT_BYTES,
  MAX_TYPED_INPUT_BYTES,
  parseJson,
  sharedUtf8,
  type Violation,
} from "@narthex/contracts";
import type { BoundCall, CheckedCall } from "../call.ts";
import { type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { explainToolFault } from "../../result/tool-fault.ts";
import { redactorsForCaller } from "../call-redactors.ts";
import { foldCase } from "../../tool/fold-case.ts";
import { recordInvocation, recordUnreadableInput } from "./record-invocation.ts";
import { type RedactedInput, redactInput } from "../../secret/redact-input.ts";
import { rootSession } from "../../session/lineage.ts";
import { findSecretReferences } from "./secret-references.ts";
import { variantInput } from "./variant-input.ts";

/** Input against the schema, all errors at once; then the one canonical form that everything later sees. */
export function check(call: BoundCall, kernel: KernelParts): CheckedCall | Ending | Promise<CheckedCall | Ending> {
  // Before anything of the call is kept.
  const learning = kernel.learnPlaced(call.live.session.workspace);
  return learning === undefined ? checkInput(call, kernel) : learning.then(() => checkInput(call, kernel));
}

function checkInput(call: BoundCall, kernel: KernelParts): CheckedCall | Ending | Promise<CheckedCall | Ending> {
  const parsed = readInput(call);
  if (parsed instanceof Failed) return recordUnreadableInput(call, kernel, parsed);
  const { tool, inputSchema } = call.registered;
  const input = inputSchema.applyDefaults(foldCase(tool, parsed));
  const violations = withoutRepeats([
    ...inputSchema.check(input),
    ...(tool.source === "builtin" && isJsonObject(input) ? checkJsonForm(tool.name, input) : []),
    ...findSecretReferences(input, tool.takesSecrets === true ? kernel.secretNames : undefined),
  ]);
  // INVARIANT: a tool's own code sees only input that fits its schema.
  const hasOwnForm = tool.canonicalInput !== undefined && violations.length === 0;
  const isAsGiven = call.incoming.isCanonical && input === parsed && !hasOwnForm && call.variant.case === "call";
  const form = hasOwnForm ? tool.canonicalInput?.(input) : input;
  const canonical = isAsGiven ? call.variant.value.input : canonicalBytes(form);
  const limit = call.variant.case === "call" ? MAX_CALL_INPUT_BYTES : MAX_TYPED_INPUT_BYTES;
  const tooLong = {
    field: "$",
    rule: "max_length",
    message: `the input is larger than ${limit} bytes of JSON`,
  } as const;
  if (canonical === undefined) return recordUnreadableInput(call, kernel, invalidInput(call, [...violations, tooLong]));
  if (canonical.length > limit) violations.push(tooLong);
  const redacted = redactSecrets(call, form ?? null, canonical, kernel);
  const [inputBytes, recordedInput] = redacted === undefined ? [canonical, input] : [redacted.bytes, redacted.value];
  const inputDigest = blake3(inputBytes);
  const requestDigest = digestRequest({ toolName: tool.name, toolVersion: call.requestedVersion, inputDigest });
  const checked: CheckedCall = { ...call, input, recordedInput, inputBytes, inputDigest, requestDigest };
  const refused = violations.length > 0 ? invalidInput(call, violations) : checkByCode(call, input, kernel);
  const noted = recordInvocation(checked, refused, kernel);
  return noted instanceof Promise ? noted.then((ending) => ending ?? checked) : (noted ?? checked);
}

/** What a tool's own check says; undefined if nothing is wrong. */
function checkByCode(call: BoundCall, input: JsonValue, kernel: KernelParts): Failed | undefined {
  const { registered } = call;
  if (registered.tool.checkInput === undefined) return undefined;
  try {
    registered.tool.checkInput(input);
    return undefined;
  } catch (fault) {
    // SECURITY: a library may quote the input in what it says.
    const hidden = redactorsForCaller({ ...call, effects: registered.tool.effects }, kernel);
    const { code, message, violations } = explainToolFault(registered, fault, hidden);
    return new Failed(code, message, { violations });
  }
}

/** A limit that schema and wire have in common is told once. */
function withoutRepeats(violations: readonly Violation[]): Violation[] {
  const told = new Set<string>();
  return violations.filter(({ field, rule }) => {
    const key = `${field} ${rule}`;
    return !told.has(key) && told.add(key);
  });
}

/** SECURITY: from here on only the tool sees the input as it came; everything else sees what is answered here. */
function redactSecrets(
  { registered, trail, live }: BoundCall,
  input: JsonValue,
  canonical: Uint8Array,
  kernel: KernelParts,
): RedactedInput | undefined {
  const redacted = redactInput(input, canonical, registered.tool.redactors ?? [], kernel.secrets);
  if (redacted === undefined) return undefined;
  const root = rootSession(live);
  trail.isRedacted = true;
  trail.inputSecrets = redacted.found;
  root.inputSecrets = new Set([...root.inputSecrets, ...redacted.found]);
  kernel.logger("warn", "a secret stands in an input", {
    session: live.id,
    request: trail.requestId,
    secrets: [...redacted.found],
  });
  return redacted;
}

/** Undefined for what is longer than a text can be. */
function canonicalBytes(input: JsonValue | undefined): Uint8Array | undefined {
  try {
    return sharedUtf8(canonicalJson(input));
  } catch (fault) {
    if (fault instanceof JsonValueError && fault.rule === "max_length") return undefined;
    throw fault;
  }
}

function readInput(call: BoundCall): JsonValue | Failed {
  const { variant, incoming } = call;
  if (incoming.inputFault !== undefined) return invalidInput(call, [violationOf(incoming.inputFault)]);
  try {
    return variant.case === "call" ? parseJson(variant.value.input) : variantInput(variant);
  } catch (fault) {
    if (fault instanceof JsonSyntaxError) return invalidInput(call, [violationOf(fault)]);
    if (isKernelError(fault)) return invalidInput(call, fault.violations);
    throw fault;
  }
}

function violationOf({ path, rule, message }: JsonSyntaxError | JsonValueError): Violation {
  return { field: `$${path}`, rule, message };
}

/** The message a model sees: every problem, and which tool it was. */
function invalidInput(call: BoundCall, violations: readonly Violation[]): Failed {
  const shown = violations.slice(0, 10).map((violation) => violation.message);
  const more = violations.length > shown.length ? ` and ${violations.length - shown.length} more` : "";
  return new Failed("INVALID_INPUT", `\`${call.registered.tool.name}\`: ${shown.join("; ")}${more}`, { violations });
}
