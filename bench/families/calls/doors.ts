import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { create, KernelService, type ToolRequest, ToolRequestSchema, type ToolResponse } from "@narthex/contracts";
import { connectFramed } from "@narthex/server/framed-client";
import { callFor } from "../../harness/call-for.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement, Row } from "../../harness/measurement.ts";
import { openEmbedded } from "../../harness/open-embedded.ts";
import { serveKernel } from "../../harness/serve-kernel.ts";
import { median, ratioOf } from "../../harness/statistics.ts";
import { connectHttp } from "./mcp/connect-http.ts";
import { openSessionStream } from "./session-stream.ts";

const IN_FLIGHT = 64;
const ROUND_MS = 800;

type Send = (request: ToolRequest) => Promise<ToolResponse>;

/** `echo` through each door of a kernel in another process, beside a call in process and the MCP SDK over HTTP. */
export const doors: Measurement = async ({ rounds, scale, directory }) => {
  const embedded = await openEmbedded(directory);
  const served = await serveKernel(directory);
  const framed = await connectFramed(served.framedSocket);
  const transport = (httpVersion: "1.1" | "2") => createConnectTransport({ baseUrl: served.listen, httpVersion });
  const stream = openSessionStream(transport("2"));
  const [h1, h2] = [createClient(KernelService, transport("1.1")), createClient(KernelService, transport("2"))];
  const [perRequest, perSession] = [await connectHttp("per-request"), await connectHttp("per-session")];

  const load = (call: (n: number) => Promise<void>) => async (): Promise<number> =>
    (await callFor({ milliseconds: ROUND_MS * scale, inFlight: IN_FLIGHT, call })).perSecond;
  const through = (send: Send) => load((n) => echo(send, served.sessionToken, n));
  const rates = await interleave(rounds, {
    inProcess: load((n) => embedded.call(n)),
    framed: through((request) => framed.call(request)),
    stream: through((request) => stream.call(request)),
    h1: through((request) => h1.call(request)),
    h2: through((request) => h2.call(request)),
    perRequest: load((n) => perRequest.call(n)),
    perSession: load((n) => perSession.call(n)),
  });
  await Promise.all([framed.close(), stream.close(), perRequest.close(), perSession.close(), embedded.close()]);
  await served.stop();

  const unary = median(rates.h1) > median(rates.h2) ? ("h1" as const) : ("h2" as const);
  const row = (door: string, ours: readonly number[], name: string, theirs: readonly number[]): Row => ({
    what: `${door}, ${IN_FLIGHT} in flight`,
    ours: { value: Math.max(...ours), unit: "/s" },
    beside: { value: Math.max(...theirs), unit: "/s", name },
    ratio: ratioOf(ours, theirs),
  });
  const held = (made: Row, value: number, picture: string): Row => ({
    ...made,
    bar: { of: "ratio", limit: "at least", value },
    picture,
  });
  const unaryDoor = `Connect unary over HTTP/${unary === "h1" ? "1.1" : "2"}`;
  const streamDoor = "Connect Session stream";
  const sdk = "MCP SDK v2, HTTP";
  return {
    rows: [
      held(row("framed socket", rates.framed, "in process", rates.inProcess), 0.6, "framed socket, beside in process"),
      held(row(streamDoor, rates.stream, sdk, rates.perSession), 4, "Session stream, beside MCP v2 over HTTP"),
      row(streamDoor, rates.stream, `${sdk}, createMcpHandler`, rates.perRequest),
      held(row(unaryDoor, rates[unary], sdk, rates.perSession), 1.3, "Connect unary, beside MCP v2 over HTTP"),
      row(unaryDoor, rates[unary], `${sdk}, createMcpHandler`, rates.perRequest),
    ],
    raw: {
      "in process, calls/s": rates.inProcess,
      "framed socket, calls/s": rates.framed,
      "Connect Session stream, calls/s": rates.stream,
      "Connect unary over HTTP/1.1, calls/s": rates.h1,
      "Connect unary over HTTP/2, calls/s": rates.h2,
      "MCP SDK v2 HTTP, one server to a session, JSON answers, calls/s": rates.perSession,
      "MCP SDK v2 HTTP, createMcpHandler, calls/s": rates.perRequest,
    },
    notes: [
      "MCP SDK v2, HTTP: NodeStreamableHTTPServerTransport with one server to a session and JSON answers, the fastest " +
        "of its ways; createMcpHandler: a server made for every request, as its documentation has it",
    ],
  };
};

let lastRequest = 0;

async function echo(send: Send, sessionToken: string, n: number): Promise<void> {
  const input = Buffer.from(JSON.stringify({ n, text: "hello world" }));
  const tool = { case: "call", value: { name: "echo", input } } as const;
  const requestId = `bench-${++lastRequest}`;
  const { result } = await send(create(ToolRequestSchema, { requestId, sessionToken, tool }));
  if (result.case !== "success") throw new Error(`echo answered ${result.case}`);
}
