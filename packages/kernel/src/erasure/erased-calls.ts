import { KernelError } from "@narthex/contracts";
import { dedupeRow } from "../journal/dedupe-row.ts";
import { intentFromRow, intentRow } from "../journal/intent.ts";
import type { KernelParts } from "../kernel-parts.ts";
import type { StateChange } from "../ports.ts";
import type { ErasureTarget } from "./erasure.ts";

const MAX_INTENTS = 100_000;

/**
 * Throws CONTENT_IN_USE if a call with an unknown outcome, an open approval request or a standing rule still needs the
 * content.
 */
export async function requireSettled(
  plan: { readonly calls: ReadonlySet<string>; readonly targets: readonly ErasureTarget[] },
  { store, approvals }: KernelParts,
): Promise<void> {
  const digests = new Set(plan.targets.map(({ digest }) => digest));
  for (const row of await store.listState("intents", "", MAX_INTENTS)) {
    const { settledIndex, inputDigest, requestId } = intentFromRow(row);
    if (settledIndex !== undefined || !(plan.calls.has(row.key) || digests.has(inputDigest))) continue;
    const message = `the outcome of \`${requestId.slice(0, 80)}\` is unknown: settle it first, see \`narthex journal\``;
    throw new KernelError("CONTENT_IN_USE", message);
  }
  const { open, standing } = approvals.list();
  const asked = open.find(({ inputDigest }) => digests.has(inputDigest));
  if (asked !== undefined) {
    throw new KernelError("CONTENT_IN_USE", `a question about it is open: answer \`${asked.approvalId}\` first`);
  }
  const named = standing.find(
    ({ scope, allows }) => scope === "rule" && [...digests].some((name) => allows.includes(name)),
  );
  if (named !== undefined) {
    const message = `a rule names it: take it back first with \`narthex approvals revoke ${named.standingId}\``;
    throw new KernelError("CONTENT_IN_USE", message);
  }
}

/**
 * State rows without digests for calls whose input is erased. The calls are still recognized as repeats, but the rows
 * can no longer be used to verify a guess about the input.
 */
export async function erasedCallRows(calls: ReadonlySet<string>, kernel: KernelParts): Promise<StateChange[]> {
  const rows: StateChange[] = [];
  const chains = new Set([...calls].map((call) => call.slice(0, call.indexOf("/"))));
  for (const chain of chains) {
    const live = await kernel.sessions.find(chain);
    if (live === undefined) continue;
    for (const [key, { requestId }] of live.dedupeEntries.entries()) {
      if (!calls.has(`${chain}/${requestId}`)) continue;
      const kept = { requestId, requestDigest: "" };
      live.dedupeEntries.set(key, kept);
      rows.push(dedupeRow(chain, key, kept));
    }
    for (const [requestId, settled] of live.settled.entries()) {
      const key = `${chain}/${requestId}`;
      const value = calls.has(key) ? await kernel.store.getState("intents", key) : undefined;
      if (value === undefined) continue;
      live.settled.set(requestId, { ...settled, requestDigest: "" });
      rows.push(intentRow({ ...intentFromRow({ key, value }), inputDigest: "", requestDigest: "" }));
    }
  }
  return rows;
}
