import type { ApprovalSubject } from "./approval-subject.ts";

/** Returns facts that a user should know about a call besides the call itself, one line each. */
export function createApprovalNotes(
  { effects }: Pick<ApprovalSubject, "effects">,
  changedFiles: readonly string[],
): string[] {
  const isOffline = effects.includes("process_spawn") && !effects.some((effect) => effect.startsWith("net_"));
  return [
    ...changedFiles.map((path) => `${JSON.stringify(path)} changed since it was allowed for this session`),
    // A user who approves `curl` should know that it will reach no host.
    ...(isOffline ? ["it runs without network"] : []),
  ];
}
