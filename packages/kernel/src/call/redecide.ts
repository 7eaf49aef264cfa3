import type { Capability, NetworkCapability } from "../capability/capability.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { narrowTool } from "../tool/narrow-tool.ts";
import { requiredCapabilities } from "../tool/required-capabilities.ts";
import { evaluateCall } from "./decide/evaluate-call.ts";
import { checkAuthority } from "./decide/check-authority.ts";
import type { PermittedCall } from "./decide/decide.ts";
import { Denied, Failed, isEnding } from "./ending.ts";
import { RedecisionRefused } from "./redecision-refused.ts";

/**
 * Decides a running call again, on what it turned out to be about. Throws RedecisionRefused if the call is denied, or
 * needs an approval that no user was asked for.
 */
export function redecide(call: PermittedCall, needed: readonly Capability[], kernel: KernelParts): void {
  const { trail } = call;
  const refused = trail.redecisionRefusal ?? (trail.isRedecided ? tooManyChanges() : decide(call, needed, kernel));
  trail.isRedecided = true;
  if (refused === undefined) return;
  trail.redecisionRefusal = refused;
  throw new RedecisionRefused(refused);
}

/**
 * Decides on a host that turned up while the call ran, through a redirect or a program. Returns why it may not be
 * contacted; a host that needs an approval must be named before.
 */
export function decideHost(call: PermittedCall, right: NetworkCapability, kernel: KernelParts): string | undefined {
  const refused = decide(call, [right], kernel);
  return refused === undefined ? undefined : `${refused.rationaleCode}: ${refused.message}`;
}

function decide(call: PermittedCall, needed: readonly Capability[], kernel: KernelParts): Denied | undefined {
  const { tool } = call.registered;
  const facts = narrowTool(tool, call.input);
  const refused = checkAuthority(
    call,
    { ...facts, required: requiredCapabilities(tool, facts.effects), needed },
    kernel,
  );
  if (refused !== undefined) return refused;
  const answer = evaluateCall(call, facts, replaceNeeded(call, needed), kernel);
  if (isEnding(answer)) return answer;
  // SECURITY: approving one path does not approve the path to which a link leads instead, and approving one host does
  // not approve another.
  const isSameDemand = answer.approval === call.approval && answer.always.every((id) => call.always.includes(id));
  const isCovered = isSameDemand && !needed.some(isPlace);
  return answer.approval === "none" || isCovered ? undefined : approvalNotRequested();
}

/** Replaces named capabilities with those that turned out to be needed in the same family; keeps the others. */
function replaceNeeded(call: PermittedCall, needed: readonly Capability[]): readonly Capability[] {
  const turnedOut = new Set(needed.map(familyOf));
  return [...needed, ...call.needed.filter((named) => !turnedOut.has(familyOf(named)))];
}

/** Returns the family of a capability, in which reading and writing are one: `fs`, `net`, `db`. */
function familyOf({ kind }: Capability): string {
  return kind.replace(/_(?:read|write)$/, "");
}

function isPlace({ kind }: Capability): boolean {
  return kind === "fs_read" || kind === "fs_write" || kind === "net_read" || kind === "net_write";
}

/**
 * Creates the error of a call that was about something else more than once while it was opened.
 *
 * SECURITY: without this limit, links that are swapped over and over would have a call decided without end.
 */
function tooManyChanges(): Failed {
  return new Failed(
    "PATH_ESCAPE",
    "what the call is about changed more than once while it was opened; nothing was done",
  );
}

function approvalNotRequested(): Denied {
  return new Denied(
    "APPROVAL_UNAVAILABLE",
    "kernel:invoke",
    "what was opened needs an approval that what was named did not",
  );
}
