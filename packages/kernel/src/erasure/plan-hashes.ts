import { type ContentItem, ContentRole, fromHex, KernelError, toHex, utf8 } from "@narthex/contracts";
import type { Mentions, Store } from "../ports.ts";
import type { ErasureTarget } from "./erasure.ts";
import { type DecodedRecord, readChain, decodeStoredRecord, requireRoom, toErasureTarget } from "./read-targets.ts";

/** Every item that references the content. */
export interface HashPlan {
  readonly targets: readonly ErasureTarget[];
  /** Calls whose input is erased, as `chain/request id`. */
  readonly calls: ReadonlySet<string>;
  /** Artifacts whose content is erased. */
  readonly artifacts: readonly { readonly tenant: string; readonly artifactId: string }[];
}

/** Roles of content that entries name by its plain hash, which cannot be erased from them. */
const PUBLIC_ROLES: ReadonlySet<number> = new Set([
  ContentRole.POLICY_SET,
  ContentRole.POLICY_SCHEMA,
  ContentRole.DEFINITION,
]);

/** SECURITY: content derived from an input lets anyone verify guesses about the input, so it is erased with it. */
const MADE_FROM_INPUT: ReadonlySet<number> = new Set([
  ContentRole.REQUEST,
  ContentRole.POLICY_REQUEST,
  ContentRole.PROOF,
  ContentRole.ERROR,
  ContentRole.FILES,
]);

/**
 * Finds every item with one of these digests, every item whose bytes contain one (file lists, results that contain a
 * hash) and, for calls whose input is erased, everything derived from that input. Reads the whole ledger.
 */
export async function planHashes(digests: readonly Uint8Array[], store: Store): Promise<HashPlan> {
  const names = new Set(digests.map(toHex));
  const needles = [...digests, ...[...names].map(utf8)].map((bytes) => Buffer.from(bytes));
  const targets = new Map<string, ErasureTarget>();
  const calls = new Set<string>();
  const chains = new Set<string>();
  const artifacts: { tenant: string; artifactId: string }[] = [];
  const isNamed = (item: ContentItem): boolean => names.has(toHex(item.digest));
  const add = (record: DecodedRecord, position: number, item: ContentItem): void => {
    const target = toErasureTarget(record, position, item);
    if (target !== undefined) targets.set(`${record.index}/${position}`, target);
    requireRoom(targets.size);
  };

  for (let from: number | undefined = 0; from !== undefined; ) {
    const found: Mentions = await store.findMentions(needles, from);
    from = found.next;
    for (const index of found.records) {
      const stored = await store.readRecord(index);
      if (stored === undefined) continue;
      const record = decodeStoredRecord(stored);
      for (const [position, item] of record.items.entries()) {
        const isOwn = isNamed(item);
        if (isOwn && PUBLIC_ROLES.has(item.role)) throw refusePublic(record.index);
        if (PUBLIC_ROLES.has(item.role) || !(isOwn || mentions(item, needles))) continue;
        add(record, position, item);
        if (isOwn && item.role === ContentRole.ARTIFACT) artifacts.push(...publishedBy(record));
        if (item.role !== ContentRole.INPUT || record.message.requestId === "") continue;
        calls.add(callKey(record.chain, record.message.requestId));
        chains.add(record.chain);
      }
    }
  }
  for (const chain of chains) {
    for await (const record of readChain(chain, store)) {
      if (!calls.has(callKey(chain, record.message.requestId))) continue;
      for (const [position, item] of record.items.entries()) {
        if (MADE_FROM_INPUT.has(item.role)) add(record, position, item);
      }
    }
  }
  return { targets: [...targets.values()], calls, artifacts };
}

/** Finds items with these digests in the records from index `since` on. */
export async function planSince(names: ReadonlySet<string>, since: number, store: Store): Promise<ErasureTarget[]> {
  const needles = [...names].map(fromHex).filter((digest) => digest !== undefined);
  const targets: ErasureTarget[] = [];
  for (let from: number | undefined = since; from !== undefined && needles.length > 0; ) {
    const found: Mentions = await store.findMentions(needles, from);
    from = found.next;
    for (const index of found.records) {
      const stored = await store.readRecord(index);
      if (stored === undefined) continue;
      for (const [position, item] of decodeStoredRecord(stored).items.entries()) {
        const target = PUBLIC_ROLES.has(item.role) ? undefined : toErasureTarget(stored, position, item);
        if (target !== undefined && names.has(target.digest)) targets.push(target);
      }
    }
  }
  return targets;
}

function callKey(chain: string, requestId: string): string {
  return `${chain}/${requestId}`;
}

function mentions({ data }: ContentItem, needles: readonly Buffer[]): boolean {
  if (data.length === 0) return false;
  const held = Buffer.from(data.buffer, data.byteOffset, data.length);
  return needles.some((needle) => held.includes(needle));
}

function publishedBy({ message }: DecodedRecord): { tenant: string; artifactId: string }[] {
  return message.entries.flatMap(({ kind }) => (kind.case === "artifactPublished" ? [kind.value] : []));
}

function refusePublic(index: number): KernelError {
  const message = `record ${index} names this content by its plain hash: a policy or a tool's definition is not erased`;
  return new KernelError("INVALID_INPUT", message);
}
