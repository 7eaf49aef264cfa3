import type { NodeRequest, NodeResponse } from "../service/http-listener.ts";

/** Headers of an HTTP/1.1 connection, which must not be copied to an HTTP/2 response. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** Converts the head of a request to a web Request; the body is read separately. */
export function toWebRequest(request: NodeRequest, path: string, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) headers.append(name, item);
  }
  // The host was checked before, and nothing uses it here.
  return new Request(`http://narthex${path}`, { method: request.method ?? "POST", headers, signal });
}

/** Sends a complete response. */
export function sendJson(text: string, response: NodeResponse): void {
  response.statusCode = 200;
  response.setHeader("content-type", "application/json");
  response.end(text);
}

/** Streams a response as fast as its client reads it. */
export async function sendWebResponse(answer: Response, response: NodeResponse): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) {
    if (!CONNECTION_HEADERS.has(name)) response.setHeader(name, value);
  }
  if (answer.body === null) {
    response.end();
    return;
  }
  if (response.destroyed) {
    await answer.body.cancel();
    return;
  }
  if (answer.headers.get("content-type") === "application/json") {
    response.end(Buffer.from(await answer.arrayBuffer()));
    return;
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = answer.body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  response.once("close", stop);
  // Data that is available at once is sent together with the head.
  const flushing = setImmediate(() => {
    if ("flushHeaders" in response && !response.destroyed) response.flushHeaders();
  });
  for (let next = await reader.read(); !next.done && !response.destroyed; next = await reader.read()) {
    clearImmediate(flushing);
    if (!write(response, next.value)) await drained(response);
  }
  clearImmediate(flushing);
  response.off("close", stop);
  response.end();
}

/** Both kinds of response accept the same bytes, but have different types. */
function write(response: NodeResponse, chunk: Uint8Array): boolean {
  return "stream" in response ? response.write(chunk) : response.write(chunk);
}

function drained(response: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
