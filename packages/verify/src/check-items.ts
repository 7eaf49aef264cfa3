import { ContentPlace, ContentRole, HASH_SIZE } from "@narthex/contracts";
import type { Call, OpenedCommitment } from "./call.ts";
import { ClaimSet } from "./claim-set.ts";
import { type Claim, claimsOf } from "./claims.ts";
import type { RowHashes } from "./hash/batch-hasher.ts";
import type { DecodedItem, DecodedRecord } from "./ledger-messages.ts";
import type { ProblemCode } from "./problem.ts";
import { SYSTEM_CHAIN } from "./system-chain.ts";
import { sameSlices, type Slice } from "./wire/slice.ts";

/** The result of checking a record's content. */
export interface ItemsReport {
  readonly problems: readonly ItemProblem[];
  /** Positions of erased items. */
  readonly erased: readonly number[];
  /** Number of items whose bytes are stored nowhere. */
  readonly leftOut: number;
  /** Items whose bytes are in files or with other records. */
  readonly files: readonly DecodedItem[];
  readonly referenced: readonly DecodedItem[];
  /** Commitments that later records of the same call may repeat. */
  readonly opened: readonly OpenedCommitment[];
}

export interface ItemProblem {
  readonly code: ProblemCode;
  readonly message: string;
}

/** Roles whose items are named by their plain hashes. */
const PLAIN_ROLES: ReadonlySet<number> = new Set([
  ContentRole.POLICY_SET,
  ContentRole.POLICY_SCHEMA,
  ContentRole.DEFINITION,
]);
/** Roles whose bytes are always stored elsewhere, or nowhere. */
const REFERENCE_ROLES: ReadonlySet<number> = new Set([ContentRole.ARTIFACT, ContentRole.GRANTED]);

/**
 * Checks that every commitment of the record is opened by one of its items, or was made by an earlier record of the
 * same call; and that every item is named by an entry.
 */
export function checkItems(
  record: DecodedRecord,
  items: readonly DecodedItem[],
  hashes: RowHashes,
  call: Call | undefined,
  allowed: { readonly leavesOut: boolean },
): ItemsReport {
  const claims = new ClaimSet(claimsOf(record), items.length);
  const problems: ItemProblem[] = [];
  const erased: number[] = [];
  const files: DecodedItem[] = [];
  const elsewhere: DecodedItem[] = [];
  const opened: OpenedCommitment[] = [];
  let leftOut = 0;
  const withholds = allowed.leavesOut || record.entries.some(saysWithheld);
  const goesOn = call !== undefined && call.step !== "ended";

  for (let position = 0; position < items.length; position++) {
    const item = items[position];
    if (item === undefined) break;
    const fault = shapeFault(item, withholds);
    if (fault !== undefined) {
      problems.push({ code: "content_malformed", message: `content item ${position} ${fault}` });
      continue;
    }
    if (item.place === ContentPlace.ERASED) {
      erased.push(position);
      continue;
    }
    if (isOmitted(item)) leftOut++;
    const commitment = openClaims({ item, position, chain: record.chain, call, hashes }, claims, problems);
    const bytesFault = rowFault(item, hashes.data(position));
    if (bytesFault !== undefined)
      problems.push({ code: "content_damaged", message: `content item ${position} ${bytesFault}` });
    if (commitment !== undefined && goesOn) {
      opened.push({ role: item.role, commitment, present: hasBytes(item), size: item.size });
    }
    if (item.place === ContentPlace.FILE) files.push(item);
    if (item.place !== ContentPlace.ELSEWHERE) continue;
    const earlier = findPresentEarlier(item.role, commitment, call);
    if (earlier === undefined) elsewhere.push(item);
    else if (earlier.size !== item.size) {
      const message = `content item ${position} has ${item.size} bytes, and ${earlier.size} in an earlier record of the call`;
      problems.push({ code: "content_contradicts", message });
    }
  }
  if (claims.all.some(isUnopened)) checkUnopened(claims, countByRole(items, erased), call, problems);
  return { problems, erased, leftOut, files, referenced: elsewhere, opened };
}

function shapeFault(item: DecodedItem, withholds: boolean): string | undefined {
  if (item.role === ContentRole.UNSPECIFIED || item.place === ContentPlace.UNSPECIFIED)
    return "has no role or no place";
  if (item.place === ContentPlace.ERASED) {
    return item.digest.length + item.nonce.length + item.data.length === 0
      ? undefined
      : "is said to be erased and is not";
  }
  if (item.digest.length !== HASH_SIZE || item.nonce.length !== HASH_SIZE)
    return "has no digest or no nonce of 32 bytes";
  if (item.data.length > 0 && item.place !== ContentPlace.ROW) return "has bytes in the row and another place";
  if (item.role === ContentRole.REQUEST) {
    return item.place === ContentPlace.NONE && item.size === 0 ? undefined : "stands for a request and has bytes";
  }
  const isWithheld = withholds || REFERENCE_ROLES.has(item.role);
  return item.place === ContentPlace.NONE && !isWithheld ? "has no bytes anywhere" : undefined;
}

/** INVARIANT: an entry, which the record's hash covers, states that bytes were never stored. */
function saysWithheld({ kind }: DecodedRecord["entries"][number]): boolean {
  switch (kind.case) {
    case "toolCompleted":
    case "toolFailed":
    case "toolTimedOut":
    case "toolDenied":
      return kind.value.redacted;
    case "contentStored":
      return kind.value.withheld;
    default:
      return false;
  }
}

/** Whether only the item's digest is stored. */
function isOmitted({ role, place }: DecodedItem): boolean {
  return place === ContentPlace.NONE && role !== ContentRole.REQUEST;
}

interface PlacedItem {
  readonly item: DecodedItem;
  readonly position: number;
  readonly chain: string;
  readonly call: Call | undefined;
  readonly hashes: RowHashes;
}

/** Marks every claim that the item opens. Returns the item's commitment, if its role has one. */
function openClaims(placed: PlacedItem, claims: ClaimSet, problems: ItemProblem[]): Slice | undefined {
  const { item, position } = placed;
  // Granted content belongs to its session without a claim; in the system's chain nothing is granted.
  if (item.role === ContentRole.GRANTED && placed.chain !== SYSTEM_CHAIN) return undefined;
  const plain = PLAIN_ROLES.has(item.role);
  const value = plain ? item.digest : placed.hashes.commitment(position);
  let claimed = false;
  for (const claim of claims.near(item.role, value)) {
    if (claim.role !== item.role || !sameSlices(claim.value, value)) continue;
    claimed = true;
    claim.opened = true;
    const wrong = contradiction(claim, item);
    if (wrong !== undefined)
      problems.push({ code: "content_contradicts", message: `content item ${position} ${wrong}` });
  }
  if (!claimed && !isEarlier(item.role, value, placed.call)) {
    problems.push({ code: "content_unclaimed", message: `content item ${position} is not what any entry names` });
  }
  return plain ? undefined : value;
}

function contradiction(claim: Claim, item: DecodedItem): string | undefined {
  if (claim.size !== undefined && claim.size !== item.size) return "has another size than its entry says";
  if (claim.labels !== undefined && !sameLabels(claim.labels, item.labels))
    return "has other labels than its entry says";
  return undefined;
}

function rowFault(item: DecodedItem, hash: Slice): string | undefined {
  if (item.place !== ContentPlace.ROW) return undefined;
  if (item.data.length !== item.size) return `has ${item.data.length} bytes, not ${item.size}`;
  return sameSlices(hash, item.digest) ? undefined : "does not hash to its digest";
}

function checkUnopened(
  claims: ClaimSet,
  erasedByRole: Map<ContentRole, number>,
  call: Call | undefined,
  problems: ItemProblem[],
): void {
  for (const claim of claims.all) {
    if (claim.opened || isEarlier(claim.role, claim.value, call)) continue;
    const erased = erasedByRole.get(claim.role) ?? 0;
    if (erased > 0) {
      erasedByRole.set(claim.role, erased - 1);
    } else {
      const what = ContentRole[claim.role];
      problems.push({ code: "commitment_unopened", message: `nothing opens the commitment to the ${what}` });
    }
    // The same commitment in other entries of the record counts as one.
    for (const other of claims.near(claim.role, claim.value)) {
      if (other.role === claim.role && sameSlices(other.value, claim.value)) other.opened = true;
    }
  }
}

function isUnopened(claim: Claim): boolean {
  return !claim.opened;
}

function countByRole(items: readonly DecodedItem[], positions: readonly number[]): Map<ContentRole, number> {
  const counts = new Map<ContentRole, number>();
  for (const position of positions) {
    const role = items[position]?.role ?? ContentRole.UNSPECIFIED;
    counts.set(role, (counts.get(role) ?? 0) + 1);
  }
  return counts;
}

function isEarlier(role: ContentRole, commitment: Slice, call: Call | undefined): boolean {
  return call?.opened.some((known) => known.role === role && sameSlices(known.commitment, commitment)) === true;
}

function findPresentEarlier(
  role: ContentRole,
  commitment: Slice | undefined,
  call: Call | undefined,
): OpenedCommitment | undefined {
  if (commitment === undefined || call === undefined) return undefined;
  return call.opened.find((known) => known.present && known.role === role && sameSlices(known.commitment, commitment));
}

function hasBytes(item: DecodedItem): boolean {
  return item.place === ContentPlace.ROW || item.place === ContentPlace.FILE;
}

function sameLabels(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((label, i) => label === right[i]);
}
