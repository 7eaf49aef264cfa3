import type { NodeRequest, NodeResponse } from "../service/http-listener.ts";

/** Not for HTTP/2, where the connection is nobody's business. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** The head of a request as web APIs know it; its body is read by itself. */
export function toWebRequest(request: NodeRequest, path: string, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) headers.append(name, item);
  }
  // The host was checked; nobody looks at it.
  return new Request(`http://narthex${path}`, { method: request.method ?? "POST", headers, signal });
}

/** Sends an answer that is there as a whole. */
export function sendJson(text: string, response: NodeResponse): void {
  response.statusCode = 200;
  response.setHeader("content-type", "application/json");
  response.end(text);
}

/** Sends an answer, as fast as its client reads it. */
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
  // What is there at once goes out with the head.
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

/** The two kinds of response take the same bytes by types of their own. */
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
