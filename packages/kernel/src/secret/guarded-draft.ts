import { canonicalJsonBytes, ContentPlace, ContentRole, parseJson } from "@narthex/contracts";
import type { ContentDraft, EntryDraft } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import { redactText, replaceTexts } from "../result/redact.ts";
import type { Redactor } from "../tool/tool.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { holdsSecret } from "./secret-search.ts";

/** Answers to approvals. Without one, a call that a person approved would be recorded as one that ran without approval. */
const ANSWERS: ReadonlySet<string> = new Set(["approved", "timed_out", "withdrawn"]);

/** Entries without secrets: every text in them, at any depth. */
export function guardEntries(entries: readonly EntryDraft[], secrets: KnownSecrets): readonly EntryDraft[] {
  return entries.map((entry) => redactTexts(entry, secrets.all) as EntryDraft);
}

/** Texts of rules and tools lie in clear elsewhere. Without them no decision that rests on them can be verified. */
const PUBLIC_ROLES: ReadonlySet<ContentRole> = new Set([
  ContentRole.POLICY_SET,
  ContentRole.POLICY_SCHEMA,
  ContentRole.DEFINITION,
]);

/** SECURITY: what is content has a hash, so it goes whole: only the hash is kept. The very same list if nothing goes. */
export function guardItems(items: readonly ContentDraft[], secrets: KnownSecrets): readonly ContentDraft[] {
  const holds = ({ role, data }: ContentDraft): boolean =>
    data !== undefined && (role === undefined || !PUBLIC_ROLES.has(role)) && secrets.isIn(data);
  if (!items.some(holds)) return items;
  return items.map((item) => (holds(item) ? { ...item, data: undefined, place: ContentPlace.NONE } : item));
}

/** Names of a row's fields. One may be a secret's text by chance, and the row could not be read without it. */
const FIELD = /^[a-z_]{1,32}$/u;

/**
 * Rows that say who may do what, and where.
 *
 * SECURITY: a path or a tool's name may be a value in a file of the vault. Without it the row could not be read at the next
 * start, or a label would be lost, so these lose configured secrets only.
 */
const AUTHORITY: ReadonlySet<StateChange["table"]> = new Set(["sessions", "leases", "workspaces", "meta"]);

/** Rows without secrets. The same list if it holds no secret. */
export function guardState(rows: readonly StateChange[], secrets: KnownSecrets): readonly StateChange[] {
  const guarded = rows.map((row) => guardRow(row, AUTHORITY.has(row.table) ? secrets.configured : secrets.all));
  return guarded.every((row, i) => row === rows[i]) ? rows : guarded;
}

/** The very same row if it holds no secret. */
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
