import { ContentPlace, ContentRole, equalBytes, KernelError } from "@narthex/contracts";
import { isShortfall, type Reservation } from "../budget/budget-account.ts";
import type { ContentPut, ContentReceipt } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { commitContent } from "../ledger/commitment.ts";
import type { LiveSession } from "../session/live-session.ts";
import { collectContent } from "./collect-content.ts";

const LABEL = /^[a-z][a-z0-9_-]{0,63}$/;
const MAX_LABELS = 16;

/** Stores content for a session: counted against its stored bytes as it comes, and logged. */
export async function putContent(put: ContentPut, live: LiveSession, kernel: KernelParts): Promise<ContentReceipt> {
  const labels = joinLabels(put.labels, live.labels);
  const reservations: Reservation[] = [];
  const charge = (bytes: number): void => {
    if (live.lease.budgets.stored_bytes === undefined || bytes === 0) return;
    const reservation = live.account.reserve({ stored_bytes: bytes });
    if (isShortfall(reservation)) {
      throw new KernelError("BUDGET_EXCEEDED", `the budget of stored_bytes has ${reservation.remaining} left`);
    }
    reservations.push(reservation);
  };
  const collector = collectContent(kernel.contentStore, charge);
  let received = 0;
  try {
    for await (const chunk of put.chunks) {
      await collector.write(chunk);
      received += chunk.length;
    }
    const content = await collector.finish();
    if (put.expectedHash !== undefined && !equalBytes(put.expectedHash, content.digest)) {
      throw new KernelError("INVALID_INPUT", "the content does not hash to what was expected; nothing was stored under it");
    }
    const committed = commitContent(
      {
        role: ContentRole.PUT,
        digest: content.digest,
        size: content.size,
        place: content.place,
        labels,
        ...(content.place === ContentPlace.ROW && { bytes: content.head }),
      },
      kernel.random,
    );
    // What reached the disk is spent, whatever the outcome: a wrong hash is no way to store for nothing.
    settle(live, reservations, received);
    live.addLabels(labels);
    await kernel.ledger.append({
      chain: live.id,
      entries: [
        { case: "contentStored", value: { contentCommitment: committed.commitment, size: content.size, labels } },
      ],
      content: [committed.item],
      state: [live.usageRow()],
    });
    return { hash: content.digest, size: content.size, labels };
  } catch (fault) {
    await collector.abort();
    settle(live, reservations, received);
    throw fault;
  }
}

function settle(live: LiveSession, reservations: Reservation[], received: number): void {
  const [first, ...others] = reservations.splice(0);
  if (first === undefined) return;
  live.account.settle(first, { stored_bytes: received });
  for (const reservation of others) live.account.settle(reservation, {});
}

/** Content carries its own labels and those of the session that put it. */
function joinLabels(given: readonly string[], session: readonly string[]): readonly string[] {
  if (given.length > MAX_LABELS) throw new KernelError("INVALID_INPUT", `give at most ${MAX_LABELS} labels`);
  for (const label of given) {
    if (!LABEL.test(label)) {
      throw new KernelError("INVALID_INPUT", `\`${label.slice(0, 80)}\` is no label: use lower-case letters, digits, \`_\` and \`-\``);
    }
  }
  return [...new Set([...given, ...session])].sort();
}
