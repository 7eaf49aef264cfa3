import {
  fromHex,
  HASH_SIZE,
  type JsonObject,
  type JsonValue,
  MAX_ID_LEN,
  MAX_PATH_LEN,
  toHex,
} from "@narthex/contracts";
import { createJsonReader, type JsonReader, ownField } from "../capability/json-reader.ts";
import type { Session } from "./session.ts";

const KEYS = [
  "id",
  "tenant",
  "user",
  "agent",
  "workspace",
  "working_directory",
  "lease_id",
  "parent_session_id",
  "seed",
  "token_hash",
  "opened_at_ms",
  "expires_at_ms",
  "state",
  "calls",
  "labels",
  "level",
] as const;

const STATES = ["open", "closed", "expired", "quarantined"] as const;
const LEVELS = ["", "L0", "L1", "L2"] as const;
const WHOLE = { min: 0, max: Number.MAX_SAFE_INTEGER };
const MAX_LABELS = 1000;

/** Encodes a session's state row. It contains the hash of the token, so it must not leave the store. */
export function sessionToJson(session: Session): JsonObject {
  return {
    id: session.id,
    tenant: session.tenant,
    user: session.user,
    agent: session.agent,
    workspace: session.workspace,
    working_directory: session.workingDirectory,
    lease_id: session.leaseId,
    ...(session.parentSessionId === undefined ? {} : { parent_session_id: session.parentSessionId }),
    seed: toHex(session.seed),
    token_hash: toHex(session.tokenHash),
    opened_at_ms: session.openedAtMs,
    expires_at_ms: session.expiresAtMs,
    state: session.state,
    calls: session.calls,
    labels: [...session.labels],
    level: session.level,
  };
}

/** Decodes a session's state row. Throws STORE_UNAVAILABLE if the row is invalid: a damaged row grants no access. */
export function sessionFromJson(json: JsonValue): Session {
  const reader = createJsonReader();
  return reader.finish(readSession(reader, json), "STORE_UNAVAILABLE", "the stored session");
}

function readSession(reader: JsonReader, json: JsonValue): Session | undefined {
  const object = reader.object(json, "", KEYS);
  if (object === undefined) return undefined;
  const name = (key: string, limit = MAX_ID_LEN) => reader.name(ownField(object, key), key, limit) ?? "";
  const whole = (key: string) => reader.wholeNumber(ownField(object, key), key, WHOLE) ?? 0;
  const parent = ownField(object, "parent_session_id");
  // The placeholders below are never returned: `finish` throws if any field was invalid.
  return {
    id: name("id"),
    tenant: name("tenant"),
    user: name("user"),
    agent: name("agent"),
    workspace: name("workspace", MAX_PATH_LEN),
    workingDirectory: name("working_directory", MAX_PATH_LEN),
    leaseId: name("lease_id"),
    parentSessionId: parent === undefined ? undefined : name("parent_session_id"),
    seed: readHash(reader, object, "seed"),
    tokenHash: readHash(reader, object, "token_hash"),
    openedAtMs: whole("opened_at_ms"),
    expiresAtMs: whole("expires_at_ms"),
    state: reader.choice(ownField(object, "state"), "state", STATES) ?? "closed",
    calls: whole("calls"),
    labels:
      reader.list(ownField(object, "labels"), "labels", MAX_LABELS, (label, at) =>
        reader.name(label, at, MAX_ID_LEN),
      ) ?? [],
    level: reader.choice(ownField(object, "level"), "level", LEVELS) ?? "",
  };
}

function readHash(reader: JsonReader, object: JsonObject, key: string): Uint8Array {
  const text = ownField(object, key);
  const bytes = typeof text === "string" ? fromHex(text) : undefined;
  if (bytes?.length !== HASH_SIZE) reader.refuse(key, "exact_length", `must be ${HASH_SIZE} bytes in hex`);
  return bytes ?? new Uint8Array(HASH_SIZE);
}
