import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { JsonObject } from "@narthex/contracts";

/** A provider on this machine that responds to each request with a scripted stream. */
export interface ScriptedProvider extends AsyncDisposable {
  readonly url: string;
  /** The bodies of the requests it received. */
  readonly requests: JsonObject[];
}

/** One streamed response: the data of its events. `cut` breaks the connection instead of ending it. */
export type ScriptedStream = readonly (JsonObject | "[DONE]" | "cut")[];

/** Responds to each request with the next stream. */
export function startScriptedProvider(...streams: readonly ScriptedStream[]): Promise<ScriptedProvider> {
  let next = 0;
  return startProvider(() => streams[next++] ?? []);
}

/** Responds to each request with a stream chosen by the request's body. */
export async function startProvider(streamFor: (request: JsonObject) => ScriptedStream): Promise<ScriptedProvider> {
  const requests: JsonObject[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const asked = JSON.parse(body) as JsonObject;
      requests.push(asked);
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const data of streamFor(asked)) {
        if (data === "cut") {
          response.destroy();
          return;
        }
        const name = typeof data === "object" && typeof data["type"] === "string" ? `event: ${data["type"]}\n` : "";
        response.write(`${name}data: ${data === "[DONE]" ? data : JSON.stringify(data)}\n\n`);
      }
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The list of objects in a field of a request. */
export function listIn(request: JsonObject | undefined, field: string): JsonObject[] {
  const list = request?.[field];
  return Array.isArray(list) ? (list as JsonObject[]) : [];
}
