/** `echo` calls per second: the whole durable path in process, and the MCP SDK's in-memory pair doing nothing else. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/server";
import { createKernel } from "narthex";

const ROUNDS = 5;
const CALLS = 10_000;
const LONE_CALLS = 500;
const IN_FLIGHT = 64;

type Call = (n: number) => Promise<unknown>;

const directory = mkdtempSync(join(process.argv[2] ?? tmpdir(), "narthex-bench-"));
const kernel = await createKernel({ data: join(directory, "home") });
const session = await kernel.session({ workspace: mkdtempSync(join(directory, "workspace-")) });
const client = await connectPlainMcp();
const narthexCall: Call = (n) => session.call("echo", { n, text: "hello world" });
const plainCall: Call = (n) => client.callTool({ name: "echo", arguments: { n, text: "hello world" } });

const rates = { narthex: [0], mcp: [0], lone: [0] };
for (const list of Object.values(rates)) list.length = 0;
await callAll(narthexCall, CALLS, IN_FLIGHT);
await callAll(plainCall, CALLS, IN_FLIGHT);
for (let round = 0; round < ROUNDS; round++) {
  rates.narthex.push(await callAll(narthexCall, CALLS, IN_FLIGHT));
  rates.mcp.push(await callAll(plainCall, CALLS, IN_FLIGHT));
  rates.lone.push(await callAll(narthexCall, LONE_CALLS, 1));
}
const best = (list: readonly number[]): number => Math.max(...list);
console.log(`narthex, in process, ${IN_FLIGHT} in flight, durable   ${best(rates.narthex).toFixed(0)} calls/s`);
console.log(`MCP SDK v2, in-memory pair, ${IN_FLIGHT} in flight      ${best(rates.mcp).toFixed(0)} calls/s`);
console.log(`ratio                                          ${(best(rates.narthex) / best(rates.mcp)).toFixed(2)}`);
console.log(`narthex, one at a time                         ${(1e3 / best(rates.lone)).toFixed(2)} ms a call`);
await client.close();
await kernel.close();
await rm(directory, { recursive: true });

async function callAll(call: Call, count: number, inFlight: number): Promise<number> {
  const started = performance.now();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return (count * 1e3) / (performance.now() - started);
}

/** A tool that returns its input: no policy, no log. */
async function connectPlainMcp(): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new Server({ name: "plain", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [{ name: "echo", inputSchema: { type: "object" as const } }],
  }));
  server.setRequestHandler("tools/call", ({ params }) => ({
    content: [{ type: "text" as const, text: JSON.stringify(params.arguments) }],
  }));
  await server.connect(far);
  const made = new Client({ name: "bench", version: "1.0.0" });
  await made.connect(near);
  return made;
}
