import { KernelError, type Violation } from "@narthex/contracts";
import { type OutgoingRequest, quoteText } from "@narthex/kernel";

/** `Name: value`, or a name whose value is a secret. */
export type HeaderInput = string | SecretHeader;

export interface SecretHeader {
  readonly name: string;
  readonly value: { readonly $secret: string };
  readonly prefix?: string;
}

type Headers = NonNullable<OutgoingRequest["headers"]>;

const MAX_HEADERS = 100;
const MAX_NAME_LENGTH = 256;
const MAX_VALUE_LENGTH = 8192;
const MAX_BYTES = 65_536;

/** Input schema of headers. */
export const HEADERS_FIELD = {
  type: "array",
  maxItems: MAX_HEADERS,
  description: "Each `Name: value`. A secret's value is named: it never stands here itself.",
  items: {
    anyOf: [
      { type: "string", minLength: 1, maxLength: MAX_NAME_LENGTH + MAX_VALUE_LENGTH + 2 },
      {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1, maxLength: MAX_NAME_LENGTH },
          value: {
            type: "object",
            properties: {
              $secret: { type: "string", minLength: 1, maxLength: 256, description: "The secret's name." },
            },
            required: ["$secret"],
            additionalProperties: false,
          },
          prefix: { type: "string", maxLength: 256, description: "Put before the secret, such as `Bearer `." },
        },
        required: ["name", "value"],
        additionalProperties: false,
      },
    ],
  },
} as const;

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

/**
 * SECURITY: headers that delimit messages, name the host or control the connection are set by the gate only. The last
 * three would turn a GET into a POST behind the gate.
 */
const REFUSED: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "upgrade",
  "te",
  "trailer",
  "expect",
  "keep-alive",
  "http2-settings",
  "x-unix-socket",
  "x-http-method-override",
  "x-http-method",
  "x-method-override",
]);

/** Converts headers to the form that the gate expects. Throws INVALID_INPUT with every problem. */
export function requestHeaders(inputs: readonly HeaderInput[]): Headers {
  const violations: Violation[] = [];
  const headers = inputs.map((input, index) => {
    const header = typeof input === "string" ? plainHeader(input) : secretHeader(input);
    const problem = problemOf(header);
    if (problem !== undefined) violations.push({ field: `headers[${index}]`, rule: "format", message: problem });
    return header;
  });
  const size = headers.reduce((sum, [name, value]) => sum + name.length + textOf(value).length, 0);
  if (size > MAX_BYTES) {
    violations.push({ field: "headers", rule: "max_length", message: `headers hold more than ${MAX_BYTES} bytes` });
  }
  const [first] = violations;
  if (first !== undefined) throw new KernelError("INVALID_INPUT", `${first.field}: ${first.message}`, { violations });
  return headers;
}

function plainHeader(line: string): Headers[number] {
  const colon = line.indexOf(":");
  // Without a colon, the whole line becomes an invalid name.
  if (colon === -1) return [`${line}:`, ""];
  return [line.slice(0, colon), line.slice(colon + 1).replaceAll(/^[ \t]+|[ \t]+$/g, "")];
}

function secretHeader({ name, value, prefix }: SecretHeader): Headers[number] {
  return [name, { secret: value.$secret, ...(prefix !== undefined && { prefix }) }];
}

function problemOf([name, value]: Headers[number]): string | undefined {
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH)
    return `${quoteText(name)} does not begin with a name and a colon`;
  const lower = name.toLowerCase();
  if (REFUSED.has(lower) || lower.startsWith("proxy-")) return `\`${lower}\` cannot be set`;
  const text = textOf(value);
  if (text.length > MAX_VALUE_LENGTH) return `\`${lower}\` is longer than ${MAX_VALUE_LENGTH} characters`;
  // SECURITY: a line break would end the header and start another one.
  return VALUE.test(text) ? undefined : `\`${lower}\` holds more than printable ASCII`;
}

function textOf(value: Headers[number][1]): string {
  return typeof value === "string" ? value : (value.prefix ?? "");
}
