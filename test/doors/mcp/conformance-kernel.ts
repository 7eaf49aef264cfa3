import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, defineTool, serve, type Tool } from "narthex";

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
    name: "test_reconnection",
    description: "Gives a text, for a client that may have lost the stream meanwhile.",
    resultType: "string",
    run: () => "Reconnection test completed",
  }),
  defineTool({
    ...asks,
    name: "test_elicitation",
    description: "Needs an approval.",
    resultType: "string",
    // The default policy permits tools without effects, unasked.
    determinism: "deterministic",
    effects: ["env_read"],
    capabilities: [{ kind: "env_read", names: ["TEST"] }],
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

/** A kernel on a home of its own with those tools, and its HTTP door's address for a suite that knows of no tokens. */
export async function openConformanceKernel() {
  const root = await mkdtemp(join(tmpdir(), "narthex-conformance-"));
  const [data, workspace] = [join(root, "home"), join(root, "workspace")];
  await mkdir(data, { mode: 0o700 });
  await mkdir(workspace);
  await writeFile(join(data, "narthex.yaml"), "timeouts: { approval_wait_ms: 2000 }\n", { mode: 0o600 });
  const asks = '@id("asks") @approve("human") permit(principal, action == Action::"test_elicitation", resource);';
  const kernel = await createKernel({ data, tools: TOOLS, policies: [{ name: "suite.cedar", text: asks }] });
  const serving = await serve(kernel, {
    services: [{ host: "127.0.0.1", port: 0 }],
    mcp: { version: "1.0.0", elicitation: true },
  });
  const [listen] = serving.addresses.services;
  const port = listen !== undefined && "port" in listen ? listen.port : 0;
  const { token } = await kernel.session({
    workspace,
    lease: { capabilities: [{ kind: "env_read", names: ["TEST"] }] },
  });
  const front = await openFront(port, token);
  return {
    url: `http://127.0.0.1:${front.port}/mcp`,
    async close() {
      await front.close();
      await serving.close();
      await kernel.close({ graceMs: 0 });
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
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
