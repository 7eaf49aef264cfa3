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

/**
 * Checks the input against the schema, reporting all errors at once; then converts it to the one canonical form that
 * all later stages see.
 */
export function check(call: BoundCall, kernel: KernelParts): CheckedCall | Ending | Promise<CheckedCall | Ending> {
  // Done before any data of the call is kept.
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

/** Runs the tool's own check; undefined if it finds nothing wrong. */
function checkByCode(call: BoundCall, input: JsonValue, kernel: KernelParts): Failed | undefined {
  const { registered } = call;
  if (registered.tool.checkInput === undefined) return undefined;
  try {
    registered.tool.checkInput(input);
    return undefined;
  } catch (fault) {
    // SECURITY: a library may quote the input in its error message.
    const hidden = redactorsForCaller({ ...call, effects: registered.tool.effects }, kernel);
    const { code, message, violations } = explainToolFault(registered, fault, hidden);
    return new Failed(code, message, { violations });
  }
}

/** Reports a limit that schema and wire have in common only once. */
function withoutRepeats(violations: readonly Violation[]): Violation[] {
  const told = new Set<string>();
  return violations.filter(({ field, rule }) => {
    const key = `${field} ${rule}`;
    return !told.has(key) && told.add(key);
  });
}

/**
 * Redacts secrets in the input; undefined if none exist.
 *
 * SECURITY: from here on only the tool sees the original input; everything else sees the form returned here.
 */
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

/** Encodes canonical JSON; undefined if it is longer than a string can be. */
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

/** Creates the error message that a model sees: the tool, and its first ten problems. */
function invalidInput(call: BoundCall, violations: readonly Violation[]): Failed {
  const shown = violations.slice(0, 10).map((violation) => violation.message);
  const more = violations.length > shown.length ? ` and ${violations.length - shown.length} more` : "";
  return new Failed("INVALID_INPUT", `\`${call.registered.tool.name}\`: ${shown.join("; ")}${more}`, { violations });
}
