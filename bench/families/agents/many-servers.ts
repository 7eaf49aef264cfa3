import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { buildCommand } from "../../../scripts/build/build-command.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";
import { connectStdio } from "./connect-client.ts";
import { openPlace, type Place } from "./open-place.ts";

const SERVERS = 10;
const TOOLS = 500;
const COUNT = 15;
const BARE = fileURLToPath(new URL("bare/listing-server.ts", import.meta.url));
const NAMES = Array.from({ length: SERVERS }, (_, n) => `small${n}`);
const LEASE = {
  tool_patterns: NAMES.map((name) => `${name}__*`),
  capabilities: [{ kind: "mcp", names: NAMES }],
};

/** Ten MCP servers behind `narthex mcp`, listed by its client, beside a server of the MCP SDK with as many tools. */
export const manyServers: Measurement = async ({ rounds, scale, directory }) => {
  await using built = await buildCommand();
  const place = await openPlace(directory, "many-servers");
  await configure(place, directory);
  const lease = join(directory, "lease.json");
  await writeFile(lease, JSON.stringify(LEASE));
  const startedMs = performance.now();
  const words = [built.program, "mcp", "--workspace", place.workspace, "--lease", lease];
  const ours = await connectStdio(words, "current", place.env);
  await list(ours);
  const firstMs = performance.now() - startedMs;
  const bare = await connectStdio([BARE, String(TOOLS)], "current");
  const count = Math.max(5, Math.round(COUNT * scale));
  const time = (client: Client) => () => medianTime(count, () => list(client));
  const times = await interleave(rounds, { ours: time(ours), bare: time(bare) });
  await Promise.all([ours.close(), bare.close()]);
  return {
    rows: [
      {
        what: `${TOOLS} tools of ${SERVERS} MCP servers listed, warm: p50`,
        ours: { value: Math.min(...times.ours), unit: "ms" },
        beside: { value: Math.min(...times.bare), unit: "ms", name: `MCP SDK v2, one server with ${TOOLS} tools` },
        ratio: ratioOf(times.ours, times.bare),
        bar: { of: "ratio", limit: "at most", value: 3 },
        picture: `${TOOLS} tools of ${SERVERS} servers, listed`,
      },
      {
        what: `the same for the first time: a new home, ${SERVERS} servers started in sandboxes, their tools pinned`,
        ours: { value: firstMs / 1000, unit: "s" },
      },
    ],
    raw: { "ours, p50 ms": times.ours, "bare, p50 ms": times.bare, "the first listing, ms": [firstMs] },
  };
};

/** The servers lie apart from the home: nothing of that may be named to a sandbox. */
async function configure({ home }: Place, directory: string): Promise<void> {
  const folder = join(directory, "servers");
  await mkdir(folder);
  for (const name of ["small-server.ts", "small-tools.ts"]) {
    await copyFile(fileURLToPath(new URL(name, import.meta.url)), join(folder, name));
  }
  const command = [process.execPath, join(folder, "small-server.ts"), String(TOOLS / SERVERS)];
  const servers = Object.fromEntries(NAMES.map((name) => [name, { command, files: [folder] }]));
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(join(home, "narthex.yaml"), JSON.stringify({ mcp_servers: servers }), { mode: 0o600 });
}

async function list(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  if (tools.length !== TOOLS) throw new Error(`${tools.length} tools were listed, not ${TOOLS}`);
}
