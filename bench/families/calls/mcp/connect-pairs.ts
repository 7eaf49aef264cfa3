import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport as FirstTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer as FirstServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import { createEchoServer } from "./echo-server.ts";

export interface Pair {
  /** One `echo` call; rejects unless it succeeded. */
  call(n: number): Promise<void>;
  close(): Promise<void>;
}

/** v2, `McpServer.registerTool` with an input schema: what its documentation shows. */
export async function connectSecond(): Promise<Pair> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createEchoServer().connect(far);
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(near);
  return toPair(client);
}

/** v2, the low-level `Server` with a bare handler: no schema of the tool is looked at. */
export async function connectBare(): Promise<Pair> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new Server({ name: "plain", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [{ name: "echo", inputSchema: { type: "object" as const } }],
  }));
  server.setRequestHandler("tools/call", ({ params }) => ({
    content: [{ type: "text" as const, text: JSON.stringify(params.arguments) }],
  }));
  await server.connect(far);
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(near);
  return toPair(client);
}

/** v1, `McpServer.registerTool` with an input schema. */
export async function connectFirst(): Promise<Pair> {
  const [near, far] = FirstTransport.createLinkedPair();
  const server = new FirstServer({ name: "plain", version: "1.0.0" });
  server.registerTool(
    "echo",
    { description: "Returns its input.", inputSchema: { n: z.number(), text: z.string() } },
    (input) => ({ content: [{ type: "text", text: JSON.stringify(input) }] }),
  );
  await server.connect(far);
  const client = new FirstClient({ name: "bench", version: "1.0.0" });
  await client.connect(near);
  return toPair(client);
}

interface EchoClient {
  callTool(request: { name: string; arguments: { n: number; text: string } }): Promise<object>;
  close(): Promise<void>;
}

export function toPair(client: EchoClient): Pair {
  return {
    async call(n) {
      const answer = await client.callTool({ name: "echo", arguments: { n, text: "hello world" } });
      if (!("content" in answer) || ("isError" in answer && answer.isError === true)) {
        throw new Error("echo answered an error");
      }
    },
    close: () => client.close(),
  };
}
