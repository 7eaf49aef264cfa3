import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { parseJson, type JsonValue } from "@narthex/contracts";

/** A model provider on this machine. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** The received requests, in order. */
  readonly requests: readonly ModelServerRequest[];
}

export interface ModelServerRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Null for an empty body. */
  readonly body: JsonValue;
}

export interface ModelReply {
  /** Default: 200. */
  readonly status?: number;
  /** Default: those of an event stream. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent in these pieces; a single text is sent as one. */
  readonly body: string | Iterable<string | Uint8Array>;
  /** The connection is broken after the body instead of being closed properly. */
  readonly isCut?: boolean;
  /** Nothing follows the body, and the connection stays open. */
  readonly isSilent?: boolean;
}

/** Starts a server that responds to each request as scripted, byte for byte as a provider would. */
export async function startModelServer(
  reply: (request: ModelServerRequest) => ModelReply | Promise<ModelReply>,
): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  const server = createServer((incoming, response) => {
    void text(incoming).then(async (body) => {
      const { method = "", url: path = "", headers } = incoming;
      const request = { method, path, headers, body: body === "" ? null : parseJson(body) };
      requests.push(request);
      const answer = await reply(request);
      response.writeHead(answer.status ?? 200, { "content-type": "text/event-stream", ...answer.headers });
      const pieces = Readable.from(typeof answer.body === "string" ? [answer.body] : answer.body);
      pieces.pipe(response, { end: answer.isCut !== true && answer.isSilent !== true });
      if (answer.isCut === true) pieces.once("end", () => response.write("", () => response.destroy()));
      response.once("close", () => pieces.destroy());
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
