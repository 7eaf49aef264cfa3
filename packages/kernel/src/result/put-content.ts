import { ContentPlace, ContentRole, equalBytes, KernelError } from "@narthex/contracts";
import type { ContentPut, ContentReceipt } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { checkLabels } from "../label/check-labels.ts";
import { joinLabels } from "../label/join-labels.ts";
import { commitContent } from "../ledger/commitment.ts";
import type { LiveSession } from "../session/live-session.ts";
import { requireUsable } from "../session/require-open.ts";
import type { CollectedContent } from "./content-collector.ts";
import { countTreeBytes } from "../session/tree-storage.ts";
import { HashPreservingCollector } from "./hash-preserving-collector.ts";
import { ReservedBytes } from "../budget/reserved-bytes.ts";

/** Stores content for a session: charged to its stored bytes as it arrives, and recorded. */
export async function putContent(put: ContentPut, live: LiveSession, kernel: KernelParts): Promise<ContentReceipt> {
  checkLabels(put.labels, joinLabels(live.labels, kernel.workspaceLabels.get(live.session.workspace)));
  const stored = new ReservedBytes(live.account, "stored_bytes");
  const charge = (bytes: number): void => {
    const shortfall = stored.add(bytes) ?? countTreeBytes(live, bytes);
    if (shortfall === undefined) return;
    throw new KernelError("BUDGET_EXCEEDED", `the budget of stored_bytes has ${shortfall.remaining} left`);
  };
  const redactors = kernel.secrets.all;
  const collector = new HashPreservingCollector({ store: kernel.contentStore, charge, redactors, isWithheld: false });
  try {
    for await (const chunk of put.chunks) await collector.write(chunk);
    const content = await collector.finish();
    if (put.expectedHash !== undefined && !equalBytes(put.expectedHash, content.digest)) {
      throw new KernelError(
        "INVALID_INPUT",
        "the content does not hash to what was expected; nothing was stored under it",
      );
    }
    // The session may have ended, or gained labels, while the content arrived.
    requireUsable(live, kernel.ledger.nowMs());
    checkLabels(put.labels, joinLabels(live.labels, kernel.workspaceLabels.get(live.session.workspace)));
    // Content carries its own labels and those of the session that put it.
    const labels = joinLabels(live.labels, put.labels);
    stored.settle(content.size);
    await writeDown(content, labels, live, kernel);
    if (content.held !== undefined) kernel.heldContent.add(live.id, content.digest, content.held, labels);
    return { hash: content.digest, size: content.size, labels };
  } catch (fault) {
    await collector.abort();
    throw fault;
  } finally {
    // Received bytes stay charged whatever the outcome, so that a wrong hash is no way to store bytes for free.
    stored.settle(collector.size);
  }
}

async function writeDown(
  content: CollectedContent,
  labels: readonly string[],
  live: LiveSession,
  kernel: KernelParts,
): Promise<void> {
  const { digest, size, place, head } = content;
  const bytes = place === ContentPlace.ROW ? { bytes: head } : {};
  const withheld = place === ContentPlace.NONE;
  const committed = commitContent({ role: ContentRole.PUT, digest, size, place, labels, ...bytes }, kernel.random);
  live.addLabels(labels);
  live.enter();
  try {
    await kernel.ledger.append({
      chain: live.id,
      entries: [{ case: "contentStored", value: { contentCommitment: committed.commitment, size, labels, withheld } }],
      content: [committed.item],
      state: [live.usageRow()],
    });
    live.noteDurableLabels(labels);
  } finally {
    live.leave();
  }
}
