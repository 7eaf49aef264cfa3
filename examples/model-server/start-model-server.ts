import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chatChunks } from "./chat-chunks.ts";
import { messageEvents } from "./message-events.ts";
import type { ModelTurn } from "./model-turn.ts";

/** A provider on this machine. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
}

/**
 * Stands in for a provider's model: answers each request with the next turn of a script, streamed as Anthropic's messages
 * or as OpenAI's chat completions, whichever was asked for.
 */
export async function startModelServer(...script: readonly ModelTurn[]): Promise<ModelServer> {
  const turns = script.entries();
  const server = createServer((request, response) => {
    request.resume();
    const { value, done } = turns.next();
    if (done === true) return void response.writeHead(410).end("the script is over");
    const [index, turn] = value;
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (request.url === "/v1/messages") response.end(messageEvents(turn, index));
    else response.end(chatChunks(turn, index));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
