import { KernelError } from "@narthex/contracts";
import { defineTool, type IncomingResponse, type NetworkCapability, type ToolContext } from "@narthex/kernel";
import { readBodyStart, utf8Text } from "./response-body.ts";
import { fetchedText } from "./web-texts.ts";
import { HEADERS_FIELD, requestHeaders } from "./request-headers.ts";
import { ADDRESS_FACTS, addressFacts, hostScope, parseWebAddress, rightFor, URL_FIELD } from "./web-address.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
type Method = (typeof METHODS)[number];

const MB = 1024 * 1024;
const MAX_SENT_CHARACTERS = 8 * MB;
const MAX_BODY_BYTES = 64 * MB;
/** A larger body is stored as content and returned by its hash. */
const SHOWN_BYTES = 256 * 1024;

interface FetchInput {
  readonly url: string;
  readonly method: Method;
  readonly headers: Parameters<typeof requestHeaders>[0];
  readonly body?: string;
}

/** A type and not an interface: only types are assignable to JSON. */
type FetchedBody = { size: number; body?: string; body_hash?: string };

/** Sends one HTTP request and returns the response unchanged. */
export const httpFetch = defineTool({
  name: "http_fetch",
  description:
    "Sends one HTTP request, follows redirects, and answers status, headers and body. To read a page, use web_fetch. A " +
    "body that is long or not text is answered as a hash for result_read.",
  source: "builtin",
  isolation: "http",
  inputSchema: {
    type: "object",
    properties: {
      url: URL_FIELD,
      method: { type: "string", enum: METHODS, default: "GET" },
      headers: { ...HEADERS_FIELD, default: [] },
      body: {
        type: "string",
        maxLength: MAX_SENT_CHARACTERS,
        description: "Text to send; set a content-type header. Not with GET or HEAD.",
      },
    },
    required: ["url"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: {
      status: { type: "integer" },
      headers: {
        type: "array",
        description: "Name in lower case and value, in the order they came.",
        items: { type: "array", items: { type: "string" }, minItems: 2, maxItems: 2 },
      },
      final_url: { type: "string", description: "Where it came from, after redirects." },
      size: { type: "integer", description: "Of the body, in bytes." },
      body: { type: "string", description: "If it is text of at most 256 KB." },
      body_hash: { type: "string", description: "Of every other body." },
    },
    required: ["status", "headers", "final_url", "size"],
  },
  resultType: "object",
  effects: ["net_read", "net_write"],
  determinism: "external",
  tier: "side_effecting",
  labels: ["untrusted"],
  takesSecrets: true,
  capabilities: [
    { kind: "net_read", hosts: [] },
    { kind: "net_write", hosts: [] },
  ],
  bounds: { timeoutMs: 60_000, maxOutputBytes: 32_768, maxNetworkRequests: 11, maxNetworkBytes: 80 * MB },
  narrow: (input) => ({ effects: [kindOf(input)] }),
  needsAnyOf: ["net_read", "net_write"],
  needs: (input) => {
    checkRequest(input);
    return [rightFor(kindOf(input), parseWebAddress(input.url))];
  },
  approvalScope: (input) => hostScope(kindOf(input), parseWebAddress(input.url)),
  derived: { schema: ADDRESS_FACTS, of: ({ url }) => addressFacts(url) },
  textView: fetchedText,
  async run(input, context) {
    const { url, headers } = checkRequest(input);
    const answer = await context.network.request({
      method: input.method ?? "GET",
      url,
      headers,
      maxBodyBytes: MAX_BODY_BYTES,
      ...(input.body !== undefined && { body: new TextEncoder().encode(input.body) }),
    });
    return {
      status: answer.status,
      headers: answer.headers.map(([name, value]) => [name, value]),
      final_url: answer.url,
      ...(await takeBody(answer, context)),
    };
  },
});

/** SPEC: only GET and HEAD count as reading. */
function kindOf({ method = "GET" }: Partial<FetchInput>): NetworkCapability["kind"] {
  return method === "GET" || method === "HEAD" ? "net_read" : "net_write";
}

/** Throws INVALID_INPUT, before any policy decision and before anything is sent. */
function checkRequest(input: Partial<FetchInput> & Pick<FetchInput, "url">) {
  const { url } = parseWebAddress(input.url);
  const headers = requestHeaders(input.headers ?? []);
  if (input.body !== undefined && kindOf(input) === "net_read") {
    const message = "a GET or HEAD has no body: leave it out, or name another method";
    throw new KernelError("INVALID_INPUT", message, {
      violations: [{ field: "body", rule: "exclusive", message }],
    });
  }
  return { url, headers };
}

/** Returns the body itself, or the hash under which it is stored. */
async function takeBody({ body }: IncomingResponse, { content }: ToolContext): Promise<FetchedBody> {
  const beginning = await readBodyStart(body, SHOWN_BYTES);
  const text = beginning.isWhole ? utf8Text(beginning.bytes) : undefined;
  if (text !== undefined) return { size: beginning.bytes.length, body: text };
  const { hash, size } = await content.keep(beginning.all());
  return { size, body_hash: hash };
}
