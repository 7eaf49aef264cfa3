import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { parseJson, type JsonValue } from "@narthex/contracts";

/** A provider of models on this machine. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** What it was asked, in order. */
  readonly requests: readonly ModelServerRequest[];
}

export interface ModelServerRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Null of an empty one. */
  readonly body: JsonValue;
}

export interface ModelReply {
  /** 200. */
  readonly status?: number;
  /** An event stream. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent piece by piece; a text as one. */
  readonly body: string | Iterable<string | Uint8Array>;
  /** The connection is broken after the body, instead of ended. */
  readonly isCut?: boolean;
  /** Nothing comes after the body, and the connection stays open. */
  readonly isSilent?: boolean;
}

/** Answers each request with what the script says to it, byte by byte as a provider would. */
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
