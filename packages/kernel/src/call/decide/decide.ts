import type { Capability } from "../../capability/capability.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { narrowTool } from "../../tool/narrow-tool.ts";
import { requiredCapabilities } from "../../tool/required-capabilities.ts";
import type { CheckedCall, DecidedCall } from "../call.ts";
import { checkSession } from "../check-session.ts";
import { Denied, type Ending, isEnding } from "../ending.ts";
import { Stamp } from "../stamp.ts";
import { evaluateCall } from "./evaluate-call.ts";
import { checkAuthority } from "./check-authority.ts";

declare const permittedBrand: unique symbol;

/** A call permitted by lease, capabilities, budget and policy. Only `decide` makes one. */
export interface PermittedCall extends DecidedCall {
  readonly [permittedBrand]: true;
}

// SECURITY: an object that looks like a permitted call is not one unless it bears this mark; no exported function adds
// it. Tested by "rejects a forged permitted call at run time".
class Permission extends Stamp {
  readonly #given = true;

  static isOn(call: object): boolean {
    return #given in call && call.#given;
  }
}

/** Checks lease, tier, capabilities, budget and bounds, then policy. Creates the proof. */
export function decide(call: CheckedCall, kernel: KernelParts): PermittedCall | Ending {
  const session = checkSession(call.live, kernel);
  if (session instanceof Denied) return session;
  const { tool } = call.registered;
  const narrowed = narrowTool(tool, call.input);
  const needed: readonly Capability[] = tool.needs?.(call.input, call.live.toolSession) ?? [];
  const declared = requiredCapabilities(tool, narrowed.effects);
  const refused = checkAuthority(call, { ...narrowed, required: declared, needed }, kernel);
  if (refused !== undefined) return refused;
  const answer = evaluateCall(call, narrowed, needed, kernel);
  if (isEnding(answer)) return answer;
  const required = [...declared, ...needed];
  const decided: DecidedCall = { ...call, ...narrowed, required, needed, ...answer };
  new Permission(decided);
  return decided as PermittedCall;
}

/** Throws unless `decide` made this exact object. */
export function verifyPermitted(call: PermittedCall): void {
  if (!Permission.isOn(call)) throw new TypeError("not a permitted call: only the decide stage makes one");
}
