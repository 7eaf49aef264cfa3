import { canonicalJsonBytes, ContentPlace, ContentRole, parseJson } from "@narthex/contracts";
import type { ContentDraft, EntryDraft } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import { redactText, replaceTexts } from "../result/redact.ts";
import type { Redactor } from "../tool/tool.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { holdsSecret } from "./secret-search.ts";

/** Outcomes of approval requests. Redacting one would make an approved call look like one that ran without approval. */
const ANSWERS: ReadonlySet<string> = new Set(["approved", "timed_out", "withdrawn"]);

/** Redacts secrets in all texts of the entries, at any depth. */
export function guardEntries(entries: readonly EntryDraft[], secrets: KnownSecrets): readonly EntryDraft[] {
  return entries.map((entry) => redactTexts(entry, secrets.all) as EntryDraft);
}

/** Texts of rules and tools are stored in clear elsewhere. Without them no decision based on them can be verified. */
const PUBLIC_ROLES: ReadonlySet<ContentRole> = new Set([
  ContentRole.POLICY_SET,
  ContentRole.POLICY_SCHEMA,
  ContentRole.DEFINITION,
]);

/**
 * SECURITY: content is identified by its hash, so it cannot be redacted in part: if it contains a secret, only the hash
 * is kept. Returns the same list if no item does.
 */
export function guardItems(items: readonly ContentDraft[], secrets: KnownSecrets): readonly ContentDraft[] {
  const holds = ({ role, data }: ContentDraft): boolean =>
    data !== undefined && (role === undefined || !PUBLIC_ROLES.has(role)) && secrets.isIn(data);
  if (!items.some(holds)) return items;
  return items.map((item) => (holds(item) ? { ...item, data: undefined, place: ContentPlace.NONE } : item));
}

/** Names of a row's fields. A secret may equal one by chance, and the row would be unreadable without it. */
const FIELD = /^[a-z_]{1,32}$/u;

/**
 * Tables that define permissions and where they apply.
 *
 * SECURITY: a path or a tool's name may happen to be a value in a vault file. If it were redacted, the row would be
 * unreadable at the next start, or a label would be lost, so only configured secrets are redacted in these rows.
 */
const AUTHORITY: ReadonlySet<StateChange["table"]> = new Set(["sessions", "leases", "workspaces", "meta"]);

/** Redacts secrets in rows. Returns the same list if no row contains one. */
export function guardState(rows: readonly StateChange[], secrets: KnownSecrets): readonly StateChange[] {
  const guarded = rows.map((row) => guardRow(row, AUTHORITY.has(row.table) ? secrets.configured : secrets.all));
  return guarded.every((row, i) => row === rows[i]) ? rows : guarded;
}

/** Returns the same row if it contains no secret. */
function guardRow(row: StateChange, redactors: readonly Redactor[]): StateChange {
  const { table, key, value } = row;
  const isInValue = value !== undefined && holdsSecret(value, redactors);
  if (!isInValue && !holdsSecret(Buffer.from(key), redactors)) return row;
  const hide = (text: string): string => redactText(text, redactors);
  if (!isInValue) return { table, key: hide(key), value };
  const hideKey = (name: string): string => (FIELD.test(name) ? name : hide(name));
  return { table, key: hide(key), value: canonicalJsonBytes(replaceTexts(parseJson(value), hide, hideKey)) };
}

function redactTexts(value: unknown, redactors: readonly Redactor[]): unknown {
  if (typeof value === "string") return ANSWERS.has(value) ? value : redactText(value, redactors);
  if (Array.isArray(value)) return value.map((item: unknown) => redactTexts(item, redactors));
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactTexts(item, redactors)]));
}
