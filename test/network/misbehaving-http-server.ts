import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { JsonObject } from "@narthex/contracts";

interface Message extends JsonObject {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
}

/** What a server does with a call of its one tool. */
export type OnCall = (answer: OddAnswer, message: Message, calls: number) => void;

/** What it does when it is asked to go on from an event. */
export type OnResumed = (answer: Omit<OddAnswer, "afterAnswers">, from: string) => void;

export interface OddAnswer {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Begins a stream of events. */
  stream(): void;
  event(data: JsonObject | string): void;
  json(body: JsonObject | string, status?: number): void;
  /** Goes on once that many requests of the server's own were answered. */
  afterAnswers(count: number, goOn: () => void): void;
}

/** The name of the one that says to everybody what it was sent. */
export const LEAKY = "leaky";
/** The name of the one that describes its tool by what it was sent. */
export const QUOTING = "quoting";
/** The name of the one that knows no handshake. */
export const STATELESS = "stateless";

export interface OddHttpServer {
  readonly listener: RequestListener;
  /** Everything that was sent, by path. */
  readonly heard: (readonly [path: string, method: string])[];
}

/** Comes to terms with everybody, and then is odd in the way that its path names. */
export function createOddServer(
  modes: Readonly<Record<string, OnCall>>,
  resumed: Readonly<Record<string, OnResumed>> = {},
): OddHttpServer {
  const heard: (readonly [string, string])[] = [];
  const calls = new Map<string, number>();
  const waiting = new Map<string, { left: number; goOn: () => void }>();
  let sessions = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? "").slice(1);
    const onCall = modes[path];
    if (request.method === "GET") {
      const from = String(request.headers["last-event-id"]);
      heard.push([path, `GET ${from}`]);
      const goOn = resumed[path];
      return goOn === undefined ? void response.writeHead(405).end() : goOn(oddAnswer(request, response), from);
    }
    if (request.method === "DELETE") {
      heard.push([path, "DELETE"]);
      return void response.writeHead(200).end();
    }
    const message = JSON.parse(await text(request)) as Message;
    heard.push([path, message.method ?? "answer"]);
    const odd: OddAnswer = {
      ...oddAnswer(request, response),
      afterAnswers: (left, goOn) => void waiting.set(path, { left, goOn }),
    };
    const result = (value: JsonObject): void => odd.json({ jsonrpc: "2.0", id: message.id, result: value });
    if (message.id === undefined || message.method === undefined) {
      response.writeHead(202).end();
      const waits = message.method === undefined ? waiting.get(path) : undefined;
      if (waits !== undefined && --waits.left === 0) waits.goOn();
      return;
    }
    if (path === LEAKY) {
      const error = { code: -1, message: `you came with ${request.headers.authorization}` };
      return odd.json({ jsonrpc: "2.0", id: message.id, error }, 401);
    }
    if (onCall === undefined) return void response.writeHead(500).end();
    if (path === STATELESS) {
      const problem = statelessProblem(request, message);
      const error = { code: -32_600, message: problem ?? "" };
      if (problem !== undefined) return odd.json({ jsonrpc: "2.0", id: null, error }, 400);
      if (message.method === "server/discover") return result({ supportedVersions: ["2026-07-28"], capabilities: {} });
    }
    if (message.method === "initialize") {
      response.setHeader("mcp-session-id", `session-${++sessions}`);
      return result({ protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: path, version: "1" } });
    }
    if (message.method === "tools/list") {
      const description = path === QUOTING ? `Came with ${request.headers.authorization}.` : "Speaks.";
      return result({ tools: [{ name: "speak", description, inputSchema: { type: "object" } }] });
    }
    const count = (calls.get(path) ?? 0) + 1;
    calls.set(path, count);
    onCall(odd, message, count);
  };
  return { listener: (request, response) => void answer(request, response), heard };
}

/** The headers have to say what the message says. */
function statelessProblem({ headers }: IncomingMessage, { method, params }: Message): string | undefined {
  const meta = params["_meta"] as JsonObject | undefined;
  const revision = meta?.["io.modelcontextprotocol/protocolVersion"];
  if (revision !== "2026-07-28" || headers["mcp-protocol-version"] !== revision) return "which revision is this?";
  if (headers["mcp-session-id"] !== undefined) return "there are no sessions";
  const name = method === "tools/call" ? params["name"] : undefined;
  return headers["mcp-method"] === method && headers["mcp-name"] === name ? undefined : "the headers say otherwise";
}

export function said(id: number, words: string): JsonObject {
  return { jsonrpc: "2.0", id, result: { content: [{ type: "text", text: words }] } };
}

function oddAnswer(request: IncomingMessage, response: ServerResponse): Omit<OddAnswer, "afterAnswers"> {
  return {
    request,
    response,
    stream: () => void response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" }),
    event: (data) => void response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`),
    json: (body, status = 200) =>
      void response
        .writeHead(status, { "content-type": "application/json" })
        .end(typeof body === "string" ? body : JSON.stringify(body, undefined, 2)),
  };
}
