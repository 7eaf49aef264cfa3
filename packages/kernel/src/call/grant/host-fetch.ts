import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import type { OutgoingRequest } from "../../egress.ts";
import type { ToolContext } from "../../tool/tool.ts";
import type { HostFault } from "../../wasm/wasm-runner.ts";
import { splitHead } from "./host-files.ts";

const MAX_HEAD_BYTES = 65_536;
const MAX_HEADERS = 100;
const MAX_BODY_BYTES = 16 * 1024 * 1024 - MAX_HEAD_BYTES;
const METHOD = /^[A-Z]{1,16}$/;
const KEYS = ["method", "url", "headers"];

/**
 * The host function `fetch`. Its request is the length of a head in four bytes, the head as JSON (`url`, `method`,
 * `headers` as pairs), and the body. The response has the same form, with `status`, `url` and `headers` in its head.
 */
export async function handleFetch(context: ToolContext, request: Uint8Array): Promise<Uint8Array | HostFault> {
  const outgoing = parseRequest(request);
  if (outgoing === undefined) return "invalid";
  const { status, url, headers, body } = await context.network.request(outgoing);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return "too_large";
    chunks.push(Uint8Array.from(chunk));
  }
  const head = Buffer.from(JSON.stringify({ status, url, headers }));
  if (head.length > MAX_HEAD_BYTES) return "too_large";
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, ...chunks]);
}

function parseRequest(request: Uint8Array): OutgoingRequest | undefined {
  const parts = splitHead(request);
  if (parts === undefined || parts.head.length > MAX_HEAD_BYTES) return undefined;
  const head = parseHead(parts.head);
  if (head === undefined || Object.keys(head).some((key) => !KEYS.includes(key))) return undefined;
  const { url, method = "GET" } = head;
  const headers = parseHeaders(head["headers"] ?? []);
  if (typeof url !== "string" || typeof method !== "string" || !METHOD.test(method) || headers === undefined) {
    return undefined;
  }
  return { url, method, headers, ...(parts.rest.length > 0 && { body: parts.rest }), maxBodyBytes: MAX_BODY_BYTES };
}

function parseHead(bytes: Uint8Array): JsonObject | undefined {
  try {
    const head = parseJson(bytes);
    return isJsonObject(head) ? head : undefined;
  } catch {
    return undefined;
  }
}

function parseHeaders(json: JsonValue): [string, string][] | undefined {
  if (!Array.isArray(json) || json.length > MAX_HEADERS) return undefined;
  const headers: [string, string][] = [];
  for (const pair of json) {
    if (!Array.isArray(pair) || pair.length !== 2) return undefined;
    const [name, value] = pair;
    if (typeof name !== "string" || typeof value !== "string") return undefined;
    headers.push([name, value]);
  }
  return headers;
}
