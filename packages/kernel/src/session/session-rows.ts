import { canonicalJson, utf8 } from "@narthex/contracts";
import { leaseToJson } from "../lease/lease-to-json.ts";
import type { Lease } from "../lease/lease.ts";
import type { StateChange } from "../ports.ts";
import type { Session } from "./session.ts";
import { sessionToJson } from "./session-to-json.ts";

export function sessionRow(session: Session): StateChange {
  return { table: "sessions", key: session.id, value: utf8(canonicalJson(sessionToJson(session))) };
}

export function leaseRow(lease: Lease): StateChange {
  return { table: "leases", key: lease.id, value: utf8(canonicalJson(leaseToJson(lease))) };
}
