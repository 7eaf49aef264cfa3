import { canonicalJsonBytes, ContentPlace, ContentRole, parseJson } from "@narthex/contracts";
import type { ContentDraft, EntryDraft } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import { redactJson, redactText } from "../result/redact.ts";
import type { Redactor } from "../tool/tool.ts";
import type { KnownSecrets } from "./known-secrets.ts";

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

/** Rows without secrets. The same list if it holds no secret. */
export function guardState(rows: readonly StateChange[], secrets: KnownSecrets): readonly StateChange[] {
  const holds = ({ key, value }: StateChange): boolean =>
    secrets.isIn(Buffer.from(key)) || (value !== undefined && secrets.isIn(value));
  if (!rows.some(holds)) return rows;
  return rows.map((row) => (holds(row) ? guardRow(row, secrets) : row));
}

function guardRow({ table, key, value }: StateChange, secrets: KnownSecrets): StateChange {
  const row = { table, key: redactText(key, secrets.all) };
  if (value === undefined) return { ...row, value };
  return { ...row, value: canonicalJsonBytes(redactJson(parseJson(value), secrets.all)) };
}

function redactTexts(value: unknown, redactors: readonly Redactor[]): unknown {
  if (typeof value === "string") return redactText(value, redactors);
  if (Array.isArray(value)) return value.map((item: unknown) => redactTexts(item, redactors));
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactTexts(item, redactors)]));
}
