import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { createKernel, defineTool } from "narthex";
import { callMany } from "../../harness/call-many.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";

const CALLS = 10_000;
/** As many as the fastest run has. */
const IN_FLIGHT = 64;

const seeded = defineTool({
  name: "draw",
  description: "Draws lots, the same in every run.",
  inputSchema: { type: "object", required: ["lots"], properties: { lots: { type: "integer" } } },
  tier: "read_only",
  determinism: "deterministic",
  run: ({ lots }, { randomBytes, nowMs }) => ({ drawn: [...randomBytes(lots)], at: nowMs() }),
});
const RULE = '@id("may-draw") permit(principal, action == Action::"draw", resource);';

/** The calls of a session run again, with every decision, beside the run that recorded them, many in flight. */
export const replay: Measurement = async ({ rounds, scale, directory }) => {
  const policies = [{ name: "draw.cedar", text: RULE }];
  const kernel = await createKernel({ data: join(directory, "home"), tools: [seeded], policies });
  const workspace = await mkdtemp(join(directory, "workspace-"));
  const count = Math.round(CALLS * scale);
  const [runs, replays]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const session = await kernel.session({ workspace });
    let startedMs = performance.now();
    await callMany(count, IN_FLIGHT, async (n) => {
      const isPure = n % 2 === 0;
      const { status } = await session.callTool(isPure ? "echo" : "draw", isPure ? { n, text: "hello" } : { lots: 8 });
      if (status !== "success") throw new Error(`a call answered ${status}`);
    });
    runs.push((count * 1000) / (performance.now() - startedMs));
    startedMs = performance.now();
    await replayAll(session.id);
    replays.push((count * 1000) / (performance.now() - startedMs));
  }
  await kernel.close();
  return {
    rows: [
      {
        what: "replay of pure and deterministic calls",
        ours: { value: Math.max(...replays), unit: "calls/s" },
        beside: { value: Math.max(...runs), unit: "calls/s", name: `the run, ${IN_FLIGHT} in flight` },
        ratio: ratioOf(replays, runs),
        bar: { of: "ratio", limit: "at least", value: 1 },
        picture: "replay, beside the run",
      },
    ],
    raw: { "replay, calls/s": replays, "run, calls/s": runs },
    notes: ["replay: every decision is made again too; the ledger is not verified first"],
  };

  async function replayAll(sessionId: string): Promise<void> {
    const asked = { sessionIds: [sessionId], skipVerify: true, digestOnly: false, listCalls: false };
    for await (const { event } of kernel.replay(asked, new AbortController().signal)) {
      if (event?.case !== "report") continue;
      if (event.value.ran !== BigInt(count) || event.value.clean !== true) throw new Error("the replay is not clean");
    }
  }
};
