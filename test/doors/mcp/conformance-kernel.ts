import { createServer, type IncomingHttpHeaders, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { defineTool, type Tool } from "@narthex/kernel";
import { serve } from "@narthex/server";
import { createTestKernel, createTestPolicy } from "@narthex/testkit";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const asks = { tier: "read_only", determinism: "pure", inputSchema: { type: "object" } } as const;

/** Tools with the names and results that the suite asks for, as far as a tool of a kernel has such results. */
const TOOLS: readonly Tool[] = [
  defineTool({
    ...asks,
    name: "test_simple_text",
    description: "Gives a text.",
    resultType: "string",
    run: () => "This is a simple text response for testing.",
  }),
  defineTool({
    ...asks,
    name: "test_image_content",
    description: "Gives a picture.",
    resultType: "binary",
    run: () => Buffer.from(PNG, "base64"),
  }),
  defineTool({
    ...asks,
    name: "test_audio_content",
    description: "Gives a sound.",
    resultType: "binary",
    run: () => Buffer.from(WAV, "base64"),
  }),
  defineTool({
    ...asks,
    name: "test_error_handling",
    description: "Fails.",
    run: () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  }),
  defineTool({
    ...asks,
    name: "test_tool_with_progress",
    description: "Gives its result in parts.",
    resultType: "stream",
    async *run() {
      for (const part of ["one\n", "two\n", "three\n"]) yield Buffer.from(part);
    },
  }),
  defineTool({
    ...asks,
    name: "test_elicitation",
    description: "Needs a person's yes.",
    resultType: "string",
    run: () => "allowed",
  }),
  defineTool({
    ...asks,
    name: "json_schema_2020_12_tool",
    description: "Tool with JSON Schema 2020-12 features",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    run: () => null,
  }),
];

/** A kernel with those tools behind its HTTP door, and the door's address for a suite that knows of no tokens. */
export async function openConformanceKernel() {
  const rules = TOOLS.map(({ name }) => ({
    id: name,
    action: name,
    approve: name === "test_elicitation" ? ("human" as const) : ("none" as const),
  }));
  const { kernel, open } = await createTestKernel({
    tools: TOOLS,
    policy: createTestPolicy(rules, TOOLS),
    settings: { approvalWaitMs: 2000 },
  });
  kernel.openApprovalDoor();
  const { token } = await open();
  const serving = await serve(kernel, {
    services: [{ host: "127.0.0.1", port: 0 }],
    mcp: { version: "1.0.0", elicitation: true },
  });
  const [listen] = serving.addresses.services;
  const port = listen !== undefined && "port" in listen ? listen.port : 0;
  const front = await openFront(port, token);
  return {
    url: `http://127.0.0.1:${front.port}/mcp`,
    async close() {
      await front.close();
      await serving.close();
      await kernel.close();
    },
  };
}

/** Hands every request on as it is, with the token, and with its own name changed into that of the door behind it. */
async function openFront(port: number, token: string) {
  const server = createServer((request, response) => {
    const own = `127.0.0.1:${request.socket.localPort}`;
    const headers: IncomingHttpHeaders = { ...request.headers, authorization: `Bearer ${token}` };
    if (headers.host === own) headers.host = `127.0.0.1:${port}`;
    if (headers.origin === `http://${own}`) headers.origin = `http://127.0.0.1:${port}`;
    const behind = sendRequest({ host: "127.0.0.1", port, method: request.method, path: request.url, headers });
    behind.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    behind.on("error", () => response.destroy());
    response.on("close", () => behind.destroy());
    request.pipe(behind);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
