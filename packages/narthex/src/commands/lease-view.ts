import { type JsonObject, type LeaseInfo, LeaseInfoSchema } from "@narthex/contracts";
import { messageToJson } from "../terminal/message-json.ts";
import { readJsonText, spacedJson } from "./json-text.ts";

/** Converts a lease for scripts: the message's fields, with the lease itself and the budgets as JSON values. */
export function leaseToJson(lease: LeaseInfo): JsonObject {
  return {
    ...messageToJson(LeaseInfoSchema, lease),
    lease: readJsonText(lease.lease),
    budget_remaining: readJsonText(lease.budgetRemaining),
  };
}

/** Describes a lease for people. */
export function leaseFacts(lease: LeaseInfo): (readonly [string, string])[] {
  return [
    ["lease", lease.leaseId],
    ["state", lease.state],
    ["held by", lease.sessionId],
    ...(lease.parentLeaseId === "" ? [] : [["split off", lease.parentLeaseId] as const]),
    ["budget left", lease.budgetRemaining === "{}" ? "unlimited" : spacedJson(readJsonText(lease.budgetRemaining))],
    ["split off it", lease.childLeaseIds.join(", ") || "none"],
    ["rights", spacedJson(readJsonText(lease.lease))],
  ];
}
