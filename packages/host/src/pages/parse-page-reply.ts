import { isJsonObject, type JsonValue } from "@narthex/contracts";
import { MAX_TITLE_LENGTH, PAGE_FAULTS, PAGE_FORMATS, type PageReply } from "./worker/messages.ts";

/**
 * Parses the header of a worker's response. Throws a TypeError if it is invalid.
 *
 * SECURITY: a worker may have been taken over by the page it read. It can lie about that page's text, and nothing else.
 */
export function parsePageReply(header: unknown): PageReply {
  const reply = header as JsonValue;
  if (!isJsonObject(reply)) throw new TypeError("no reply");
  switch (reply["type"]) {
    case "ready":
      return { type: "ready" };
    case "text":
      return {
        type: "text",
        format: requireOneOf(PAGE_FORMATS, reply["format"]),
        title: optionalTitle(reply["title"]),
        charset: requireCharset(reply["charset"]),
      };
    case "failed":
      return { type: "failed", reason: requireOneOf(PAGE_FAULTS, reply["reason"]) };
    default:
      throw new TypeError("unknown reply");
  }
}

function requireOneOf<Word extends string>(words: readonly Word[], value: JsonValue | undefined): Word {
  const found = words.find((word) => word === value);
  if (found === undefined) throw new TypeError("not a word that is known");
  return found;
}

function optionalTitle(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value.length > MAX_TITLE_LENGTH) throw new TypeError("no title");
  return value.toWellFormed();
}

function requireCharset(value: JsonValue | undefined): string {
  if (typeof value !== "string" || new TextDecoder(value).encoding !== value) throw new TypeError("no charset");
  return value;
}
