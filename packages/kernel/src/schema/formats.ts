import { MAX_ARG_LEN } from "@narthex/contracts";

/** Whether a text has a format. Runs in time linear in the length of the text. */
export type FormatTest = (text: string) => boolean;

const MAX_HOST = 253;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:([zZ])|([+-])(\d\d):(\d\d))$/;
const DURATION =
  /^P(?!$)(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?!$)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/;
const UUID = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
const LABEL = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~.-]{1,64}$/;
const URI_CHARACTERS = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9a-fA-F]{2})*$/;
const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * The formats that are checked. A schema may name others: they describe a value and do not constrain it, and
 * `CompiledSchema.describedFormats` lists them.
 */
export const FORMATS: ReadonlyMap<string, FormatTest> = new Map<string, FormatTest>([
  ["date-time", isDateTime],
  ["date", isDate],
  ["time", isTime],
  ["duration", (text) => DURATION.test(text)],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["uri", (text) => SCHEME.test(text) && isUriReference(text)],
  ["uri-reference", isUriReference],
  ["uuid", (text) => UUID.test(text)],
  ["json-pointer", (text) => POINTER.test(text)],
  // SPEC: the wire's rule for env and metadata entries. A format of Narthex itself; other validators ignore it.
  ["key-value", isKeyValue],
]);

/** Explanations for messages, for formats whose name is not self-explanatory. */
export const FORMAT_HINTS: ReadonlyMap<string, string> = new Map([
  ["key-value", `: exactly one \`=\`, at most ${MAX_ARG_LEN} bytes`],
]);

/** The number of steps charged for testing a text of this length. */
export function formatCost(name: string, length: number): number {
  return name === "key-value" ? length >> 6 : length;
}

function isDateTime(text: string): boolean {
  const separator = text[10];
  return (separator === "T" || separator === "t") && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isDate(text: string): boolean {
  const parts = DATE.exec(text);
  if (parts === null) return false;
  const [year = 0, month = 0, day = 0] = parts.slice(1).map(Number);
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (DAYS[month - 1] ?? 0) + (leap ? 1 : 0);
}

function isTime(text: string): boolean {
  const parts = TIME.exec(text);
  if (parts === null) return false;
  const [hour = 0, minute = 0, second = 0] = parts.slice(1, 4).map(Number);
  const offsetHour = Number(parts[6] ?? 0);
  const offsetMinute = Number(parts[7] ?? 0);
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  // A leap second occurs only as the last second of a day in UTC.
  const offset = (offsetHour * 60 + offsetMinute) * (parts[5] === "-" ? -1 : 1);
  return second === 60 && (hour * 60 + minute - offset + 2 * 1440) % 1440 === 1439;
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  if (at < 1 || !LOCAL_PART.test(local) || local.startsWith(".") || local.endsWith(".") || local.includes("..")) {
    return false;
  }
  const host = text.slice(at + 1);
  if (!host.startsWith("[") || !host.endsWith("]")) return isHostname(host);
  const literal = host.slice(1, -1);
  return literal.startsWith("IPv6:") ? isIpv6(literal.slice(5)) : isIpv4(literal);
}

function isHostname(text: string): boolean {
  if (text.length > MAX_HOST) return false;
  return text.split(".").every((label) => LABEL.test(label) && !isUnusualLabel(label));
}

/** Hyphens in the third and fourth position mark encoded names, whose encoding would have to be checked. */
function isUnusualLabel(label: string): boolean {
  return label.slice(2, 4) === "--" && !/^xn--[a-zA-Z0-9-]*[a-zA-Z0-9]$/i.test(label);
}

function isIpv4(text: string): boolean {
  if (text.length > 15) return false;
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const [head = "", tail, ...more] = text.split("::");
  if (more.length > 0) return false;
  const groups = [...groupsOf(head), ...groupsOf(tail ?? "")];
  const last = groups.at(-1) ?? "";
  const embedded = last.includes(".") && text.endsWith(last);
  if (embedded && !isIpv4(last)) return false;
  const plain = embedded ? groups.slice(0, -1) : groups;
  const count = plain.length + (embedded ? 2 : 0);
  return plain.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) && (tail === undefined ? count === 8 : count < 8);
}

function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":");
}

function isUriReference(text: string): boolean {
  if (!URI_CHARACTERS.test(text) || text.indexOf("#") !== text.lastIndexOf("#")) return false;
  const [reference = ""] = text.split(/[?#]/, 1);
  const rest = reference.replace(SCHEME, "");
  if (rest === reference && /^[^/]*:/.test(reference)) return false;
  const authority = rest.startsWith("//") ? rest.slice(2).split("/", 1)[0] : undefined;
  if (authority === undefined) return !/[[\]]/.test(text);
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const user = authority.slice(0, Math.max(0, authority.length - host.length - 1));
  const outside = text.replace(authority, "");
  return !/[[\]]/.test(outside) && !/[[\]@]/.test(user) && isHostAndPort(host);
}

function isHostAndPort(text: string): boolean {
  const literal = /^\[(.*)\](?::\d*)?$/.exec(text)?.[1];
  if (literal !== undefined) return isIpv6(literal) || /^v[0-9a-fA-F]+\.[\w\-.~!$&'()*+,;=:]+$/.test(literal);
  return !/[[\]]/.test(text) && /^[^:]*(?::\d*)?$/.test(text);
}

function isKeyValue(text: string): boolean {
  const at = text.indexOf("=");
  return at >= 0 && text.indexOf("=", at + 1) < 0 && byteLength(text) <= MAX_ARG_LEN;
}

/** A code unit takes one to three bytes, so most texts need no exact count. */
function byteLength(text: string): number {
  if (text.length * 3 <= MAX_ARG_LEN || text.length > MAX_ARG_LEN) return text.length;
  return Buffer.byteLength(text);
}
