import { KernelError } from "@narthex/contracts";
import type { ContentGrant, ContentReceipt } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { requireUsable } from "../session/require-open.ts";
import { grantedItem, grantedLabels } from "./granted-content.ts";

/**
 * Lets a descendant name content that a session can name. The descendant takes on the labels of the session and the
 * content, at once and durably.
 */
export async function grantContent(grant: ContentGrant, kernel: KernelParts): Promise<ContentReceipt> {
  const nowMs = kernel.ledger.nowMs();
  const giver = requireUsable(await kernel.sessions.find(grant.sessionId), nowMs);
  const receiver = requireUsable(await kernel.sessions.find(grant.toSessionId), nowMs);
  if (!(await kernel.isDescendant(receiver.id, giver.id))) {
    throw new KernelError("SESSION_UNKNOWN", "content is granted to sessions that one's own lease was delegated to");
  }
  const found = await kernel.content.find(giver.id, grant.hash);
  const labels = grantedLabels(found.labels, giver.labels);
  receiver.enter();
  try {
    // The receiving session may have ended in the meantime.
    requireUsable(receiver, kernel.ledger.nowMs());
    receiver.addLabels(labels);
    await kernel.ledger.append({
      chain: receiver.id,
      entries: [{ case: "labelsAdopted", value: { labels } }],
      content: [grantedItem(found, labels, kernel.random)],
      state: [receiver.usageRow()],
    });
    receiver.noteDurableLabels(labels);
  } finally {
    receiver.leave();
  }
  return { hash: found.digest, size: found.size, labels };
}
