import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import {
  type HostEnding,
  type HostReply,
  LIMIT_WORDS,
  MAX_REASON_LENGTH,
  MAX_REJECTION_LENGTH,
  type ModuleUse,
  PROBLEM_WORDS,
  TRAP_WORDS,
} from "./worker/messages.ts";

const REASON = /^[a-z0-9-]+$/;

/**
 * Parses the header of a host's message. Throws a TypeError if it is invalid.
 *
 * SECURITY: a host may have been taken over by a module that it ran. It can give false reports about its own calls,
 * within the defined messages, and nothing else.
 */
export function parseHostReply(header: unknown): HostReply {
  const reply = header as JsonValue;
  if (!isJsonObject(reply)) throw new TypeError("no reply");
  switch (reply["type"]) {
    case "ready":
      return { type: "ready" };
    case "missing":
      return { type: "missing" };
    case "loaded":
      return { type: "loaded", isDeclared: reply["isDeclared"] === true, cpuMs: requireCount(reply["cpuMs"]) };
    case "rejected":
      return {
        type: "rejected",
        reason: requireReason(reply["reason"]),
        message: requireMessage(reply["message"]),
        cpuMs: requireCount(reply["cpuMs"]),
      };
    case "host_call":
      return { type: "host_call", code: requireCount(reply["code"], 0xffff_ffff) };
    case "ended":
      return { type: "ended", ...requireEnding(reply), use: optionalUse(reply["use"]) };
    default:
      throw new TypeError("unknown reply");
  }
}

function requireEnding(reply: JsonObject): HostEnding {
  const { how } = reply;
  switch (how) {
    case "answered":
    case "failed":
    case "stopped":
    case "starved":
      return { how };
    case "exceeded":
      return {
        how,
        limit: requireOneOf(LIMIT_WORDS, reply["limit"]),
        allowed: requireCount(reply["allowed"]),
        peak: requireCount(reply["peak"]),
      };
    case "trapped":
      return { how, trap: requireOneOf(TRAP_WORDS, reply["trap"]) };
    case "broken":
      return { how, problem: requireOneOf(PROBLEM_WORDS, reply["problem"]) };
    default:
      throw new TypeError("no end");
  }
}

function optionalUse(value: JsonValue | undefined): ModuleUse | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) throw new TypeError("no use");
  return {
    fuel: requireCount(value["fuel"]),
    memoryPages: requireCount(value["memoryPages"], 65_536),
    cpuMs: requireCount(value["cpuMs"]),
  };
}

function requireCount(value: JsonValue | undefined, most = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0 || value > most) {
    throw new TypeError("no count");
  }
  return value;
}

function requireOneOf<Word extends string>(words: readonly Word[], value: JsonValue | undefined): Word {
  const found = words.find((word) => word === value);
  if (found === undefined) throw new TypeError("not a word that is known");
  return found;
}

function requireReason(value: JsonValue | undefined): string {
  if (typeof value !== "string" || value.length > MAX_REASON_LENGTH || !REASON.test(value)) {
    throw new TypeError("no reason");
  }
  return value;
}

/** Requires one line without invisible characters: the message may quote names that a module chose. */
function requireMessage(value: JsonValue | undefined): string {
  if (typeof value !== "string" || value.length > MAX_REJECTION_LENGTH) throw new TypeError("no message");
  return value.toWellFormed().replaceAll(/[\s\p{C}]+/gu, " ");
}
