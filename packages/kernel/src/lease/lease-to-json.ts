import { type JsonObject, type JsonValue, MAX_ID_LEN } from "@narthex/contracts";
import { budgetToJson, readBudgetLimits } from "../budget/parse-budget-limits.ts";
import { capabilityToJson } from "../capability/capability-to-json.ts";
import { createJsonReader, type JsonReader, ownField } from "../capability/json-reader.ts";
import type { DelegableRights, Lease } from "./lease.ts";
import { readRights, RIGHTS_KEYS } from "./parse-lease-request.ts";

const LEASE_KEYS = [
  "id",
  "parent_id",
  "holder",
  ...RIGHTS_KEYS,
  "budgets",
  "not_before_ms",
  "expires_at_ms",
  "delegable",
  "revoked",
] as const;

const TIME_RANGE = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** The JSON form used in state rows, in the ledger and for administrators; `leaseFromJson` reads it back. */
export function leaseToJson(lease: Lease): JsonObject {
  return {
    id: lease.id,
    ...(lease.parentId === undefined ? {} : { parent_id: lease.parentId }),
    holder: lease.holder,
    ...rightsToJson(lease),
    budgets: budgetToJson(lease.budgets),
    not_before_ms: lease.notBeforeMs,
    expires_at_ms: lease.expiresAtMs,
    delegable: rightsToJson(lease.delegable),
    revoked: lease.revoked,
  };
}

/** Reads a stored lease. Throws LEASE_INVALID if the row is damaged, so that it grants no rights. */
export function leaseFromJson(json: JsonValue): Lease {
  const reader = createJsonReader();
  return reader.finish(readLease(reader, json), "LEASE_INVALID", "the stored lease");
}

function readLease(reader: JsonReader, json: JsonValue): Lease | undefined {
  const object = reader.object(json, "", LEASE_KEYS);
  if (object === undefined) return undefined;
  const parentJson = ownField(object, "parent_id");
  const delegableObject = reader.object(ownField(object, "delegable"), "delegable", RIGHTS_KEYS);
  const id = reader.name(ownField(object, "id"), "id", MAX_ID_LEN);
  const parentId = parentJson === undefined ? undefined : reader.name(parentJson, "parent_id", MAX_ID_LEN);
  const holder = reader.name(ownField(object, "holder"), "holder", MAX_ID_LEN);
  const usable = readAllRights(reader, object, "");
  const delegable = delegableObject && readAllRights(reader, delegableObject, "delegable");
  const budgets = readBudgetLimits(reader, ownField(object, "budgets") ?? null, "budgets");
  const notBeforeMs = reader.wholeNumber(ownField(object, "not_before_ms"), "not_before_ms", TIME_RANGE);
  const expiresAtMs = reader.wholeNumber(ownField(object, "expires_at_ms"), "expires_at_ms", TIME_RANGE);
  const revoked = ownField(object, "revoked");
  if (typeof revoked !== "boolean") return reader.refuse("revoked", "format", "must be true or false");
  if (id === undefined || holder === undefined || usable === undefined || delegable === undefined) return undefined;
  if (budgets === undefined || notBeforeMs === undefined || expiresAtMs === undefined) return undefined;
  return { id, parentId, holder, ...usable, budgets, notBeforeMs, expiresAtMs, delegable, revoked };
}

function readAllRights(reader: JsonReader, object: JsonObject, field: string): DelegableRights | undefined {
  const rights = readRights(reader, object, field);
  if (rights.tool_patterns && rights.capabilities && rights.highest_tier) {
    return {
      toolPatterns: rights.tool_patterns,
      capabilities: rights.capabilities,
      highestTier: rights.highest_tier,
    };
  }
  return reader.refuse(field === "" ? "lease" : field, "required", `must have ${RIGHTS_KEYS.join(", ")}`);
}

function rightsToJson(rights: DelegableRights): JsonObject {
  return {
    tool_patterns: [...rights.toolPatterns],
    capabilities: rights.capabilities.map(capabilityToJson),
    highest_tier: rights.highestTier,
  };
}
