import type { Capability } from "../../capability/capability.ts";
import { approvalDemand } from "../../policy/approval-demand.ts";
import { policyQuestion } from "../../policy/policy-question.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { CheckedCall, DecidedCall } from "../call.ts";

/** What policy is asked, besides the call itself, about a call that writes where agents usually have no business. */
export const PROTECTED_ACTION = "write_protected";

/** Says of a path, relative to a workspace's root, whether it is protected, holds such a path, or lies below one. */
export type ProtectedPaths = (path: string) => boolean;

/**
 * Paths are protected in every directory of a workspace. A `*` stands for any part of one name.
 *
 * SECURITY: names are compared without regard to case, because some file systems do: `.GIT/config` is `.git/config`.
 */
export function createProtectedPaths(patterns: readonly string[]): ProtectedPaths {
  const rules = patterns.map((pattern) => pattern.split("/").map(partRule));
  return (path) => {
    const parts = path.normalize("NFC").toLowerCase().split("/");
    return rules.some((rule) => parts.some((_, start) => fits(rule, parts, start)));
  };
}

/** Either ends before the other: what lies below is protected as well, and so is what holds it. */
function fits(rule: readonly RegExp[], parts: readonly string[], start: number): boolean {
  const length = Math.min(rule.length, parts.length - start);
  for (let index = 0; index < length; index++) {
    if (rule[index]?.test(parts[start + index] ?? "") !== true) return false;
  }
  return true;
}

function partRule(part: string): RegExp {
  const text = part
    .normalize("NFC")
    .toLowerCase()
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${text.replaceAll("*", ".*")}$`, "u");
}

/** Of what a call needs, the first path that is protected. */
export function findProtected(
  call: CheckedCall,
  needed: readonly Capability[],
  kernel: KernelParts,
): string | undefined {
  const root = `${call.live.session.workspace}/`;
  for (const capability of needed) {
    if (capability.kind !== "fs_write") continue;
    for (const path of capability.prefixes) {
      if (path.startsWith(root) && kernel.isProtected(path.slice(root.length))) return path.slice(root.length);
    }
  }
  return undefined;
}

/** Whether a rule lets the programs of this call change what is protected, without anyone being asked. */
export function mayChangeProtected(call: DecidedCall, kernel: KernelParts): boolean {
  if ("problem" in kernel.policy.current) return false;
  const { effects, tier, determinism, timeoutMs } = call;
  const facts = { effects, tier, determinism, timeoutMs, action: PROTECTED_ACTION };
  const { request } = policyQuestion(call.live, call.registered, facts, call.inputDigest);
  const answer = kernel.policy.evaluate(request);
  return answer.allowed && answer.errors.length === 0 && approvalDemand(answer.rules, tier) === "none";
}
