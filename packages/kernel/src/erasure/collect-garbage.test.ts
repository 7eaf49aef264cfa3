import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool, type Tool } from "@narthex/kernel";
import {
  createMemoryContentStore,
  createMemoryStore,
  createTestKernel,
  echoTool,
  type TestKernel,
} from "@narthex/testkit";
import { verifyStore } from "../testing/verify-store.ts";

const DAY_MS = 24 * 3_600_000;
const ALL = { dryRun: false, maxAgeMs: 0 };

/** Gives back large content that it is told the letter of. */
const largeTool: Tool = defineTool({
  name: "large",
  description: "Gives back many letters.",
  inputSchema: true,
  tier: "read_only",
  run: (input) => String(input).repeat(100_000),
});

interface Place extends TestKernel {
  put(sessionId: string, bytes: Uint8Array): Promise<Uint8Array>;
  holds(hash: Uint8Array): Promise<boolean>;
  verify(): Promise<unknown>;
}

async function createPlace(tools: readonly Tool[] = []): Promise<Place> {
  const store = createMemoryStore();
  const contentStore = createMemoryContentStore();
  const at = await createTestKernel({ tools: [echoTool, largeTool, ...tools], store, contentStore });
  return {
    ...at,
    async put(sessionId, bytes) {
      async function* chunks(): AsyncGenerator<Uint8Array> {
        yield bytes;
      }
      return (await at.kernel.putContent({ sessionId, door: "test", labels: [], chunks: chunks() })).hash;
    },
    holds: async (hash) => (await at.kernel.statContent(hash)) !== undefined,
    verify: () => verifyStore(store, contentStore),
  };
}

describe("retention", () => {
  it("keeps content of open sessions, whatever its age and size", async () => {
    const at = await createPlace();
    const session = await at.open({ ttlMs: 300 * DAY_MS });
    const hash = await at.put(session.id, new Uint8Array(200_000));
    at.clock.advance(100 * DAY_MS);
    const report = await at.kernel.collect({ dryRun: false, maxBytes: 0 });
    assert.deepEqual([report.items, report.files], [0, 0]);
    assert.ok(await at.holds(hash));
  });

  it("collects content of a session 14 days after it ended, and not before", async () => {
    const at = await createPlace();
    const session = await at.open();
    const { hash = new Uint8Array() } = await session.call("large", "x");
    await at.kernel.closeSession(session.id);
    at.clock.advance(14 * DAY_MS - 1000);
    assert.equal((await at.kernel.collect({ dryRun: false })).items, 0);
    assert.ok(await at.holds(hash));
    at.clock.advance(2000);
    const report = await at.kernel.collect({ dryRun: false });
    assert.deepEqual([report.sessions, report.items, report.files, report.keptBytes], [1, 5, 1, 0]);
    assert.ok(!(await at.holds(hash)));
    await at.verify();
    assert.equal((await at.kernel.collect({ dryRun: false })).items, 0);
  });

  it("collects the oldest content first when ended sessions exceed their storage limit", async () => {
    const at = await createPlace();
    const hashes: Uint8Array[] = [];
    for (const letter of ["a", "b", "c"]) {
      const session = await at.open();
      hashes.push(await at.put(session.id, Buffer.alloc(100_000, letter)));
      await at.kernel.closeSession(session.id);
      at.clock.advance(1000);
    }
    const dry = await at.kernel.collect({ dryRun: true, maxBytes: 250_000 });
    assert.deepEqual([dry.sessions, dry.items], [1, 1]);
    await at.kernel.collect({ dryRun: false, maxBytes: 250_000 });
    assert.deepEqual(await Promise.all(hashes.map((hash) => at.holds(hash))), [false, true, true]);
    await at.verify();
  });

  it("collects content of a session that expired without being closed", async () => {
    const at = await createPlace();
    const session = await at.open({ ttlMs: DAY_MS });
    const hash = await at.put(session.id, Buffer.from("x"));
    at.clock.advance(14 * DAY_MS);
    await at.kernel.collect({ dryRun: false });
    assert.ok(await at.holds(hash));
    at.clock.advance(DAY_MS + 1000);
    await at.kernel.collect({ dryRun: false });
    assert.ok(!(await at.holds(hash)));
  });

  it("keeps content granted to a child while the child needs it, and content a child received for its parent", async () => {
    const at = await createPlace();
    const parent = await at.open();
    const given = await at.put(parent.id, Buffer.alloc(100_000, "g"));
    const other = await at.put(parent.id, Buffer.alloc(100_000, "o"));
    const { session, token } = await at.kernel.delegateLease({
      sessionId: parent.id,
      lease: { tool_patterns: ["*"] },
      labels: [],
      contentHashes: [given],
    });
    const own = await at.kernel.callInProcess({ token, tool: "large", input: "k" });
    await at.kernel.closeSession(session.session.id);
    // The parent may name what its child received.
    assert.equal((await at.kernel.collect(ALL)).items, 0);
    assert.ok(await at.holds(own.hash ?? new Uint8Array()));
    await at.kernel.closeSession(parent.id);
    // First the child lets go of what it was given, then whoever gave it.
    await at.kernel.collect(ALL);
    await at.verify();
    await at.kernel.collect(ALL);
    for (const hash of [given, other, own.hash ?? new Uint8Array()]) assert.ok(!(await at.holds(hash)));
    await at.verify();
  });

  it("collects old hook inputs without a session, and keeps policies and definitions", async () => {
    const at = await createPlace();
    const hook = (text: string) =>
      at.kernel.recordHookDecision({
        client: "claude",
        event: "PreToolUse",
        toolName: "Write",
        input: { text },
        conversation: "",
        workspace: "/w",
        sessionId: "",
        decidedAs: [],
        answer: "none",
        code: "",
        ruleIds: [],
      });
    await hook("old");
    at.clock.advance(15 * DAY_MS);
    await hook("new");
    const report = await at.kernel.collect({ dryRun: false });
    assert.deepEqual([report.sessions, report.items], [0, 1]);
    assert.equal((await at.kernel.collect({ dryRun: false })).items, 0);
    await at.verify();
  });

  it("keeps content for every session that holds it itself", async () => {
    const at = await createPlace();
    const [gone, stays] = [await at.open(), await at.open()];
    const bytes = Buffer.alloc(100_000, "s");
    const hash = await at.put(gone.id, bytes);
    await at.put(stays.id, bytes);
    await at.kernel.closeSession(gone.id);
    const report = await at.kernel.collect(ALL);
    assert.deepEqual([report.items, report.files], [1, 0]);
    const { chunks } = await at.kernel.getContent(stays.id, hash, 0, bytes.length);
    assert.deepEqual(Buffer.concat(await Array.fromAsync(chunks)), bytes);
    await at.verify();
  });

  it("keeps content that a call has written and not yet named, even if the same bytes are released meanwhile", async () => {
    const bytes = Buffer.alloc(100_000, "r");
    const { tool, kept, finish } = keepingTool(bytes);
    const at = await createPlace([tool]);
    const gone = await at.open();
    const hash = await at.put(gone.id, bytes);
    await at.kernel.closeSession(gone.id);
    const session = await at.open();
    const running = session.call("keeping", {});
    await kept;
    const report = await at.kernel.collect(ALL);
    assert.deepEqual([report.items, report.files], [0, 0]);
    finish();
    assert.equal((await running).status, "success");
    const { chunks } = await at.kernel.getContent(session.id, hash, 0, bytes.length);
    assert.deepEqual(Buffer.concat(await Array.fromAsync(chunks)), bytes);
    await at.verify();
    // The one who put it holds it no more.
    assert.deepEqual([(await at.kernel.collect(ALL)).items, await at.holds(hash)], [1, true]);
    await at.verify();
  });

  it("keeps content that a call has found and not yet named", async () => {
    const found = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const publisher = defineTool({
      name: "publisher",
      description: "Reads content, waits, and publishes it.",
      inputSchema: { type: "object", properties: { hash: { type: "string" } }, required: ["hash"] },
      effects: ["artifact"],
      capabilities: [{ kind: "artifact", names: ["*"] }],
      tier: "side_effecting",
      resultType: "object",
      run: async ({ hash }, { content }) => {
        await content.read(hash, 0, 10);
        found.resolve();
        await go.promise;
        return {};
      },
    });
    const at = await createPlace([publisher]);
    const parent = await at.open();
    const { session: child, token } = await at.kernel.delegateLease({
      sessionId: parent.id,
      lease: { tool_patterns: ["*"] },
      labels: [],
      contentHashes: [],
    });
    const { hash = new Uint8Array() } = await at.kernel.callInProcess({ token, tool: "large", input: "f" });
    await at.kernel.closeSession(child.session.id);
    const running = parent.call("publisher", { hash: Buffer.from(hash).toString("hex") });
    await found.promise;
    // Its session is over as well from here on, but for the call that has the content in hand.
    const closing = at.kernel.closeSession(parent.id);
    assert.equal((await at.kernel.collect(ALL)).files, 0);
    assert.ok(await at.holds(hash));
    go.resolve();
    await Promise.all([running, closing]);
    await at.kernel.collect(ALL);
    assert.ok(!(await at.holds(hash)));
    await at.verify();
  });
});

/** Keeps content, and ends when it is told to. */
function keepingTool(bytes: Uint8Array): {
  readonly tool: Tool;
  readonly kept: Promise<void>;
  readonly finish: () => void;
} {
  const kept = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const tool = defineTool({
    name: "keeping",
    description: "Keeps content and waits.",
    inputSchema: true,
    tier: "read_only",
    run: async (_, { content }) => {
      async function* chunks(): AsyncGenerator<Uint8Array> {
        yield bytes;
      }
      await content.keep(chunks());
      kept.resolve();
      await finished.promise;
      return null;
    },
  });
  return { tool, kept: kept.promise, finish: finished.resolve };
}

it("collects nothing that a call is about to name", async () => {
  const at = await createPlace();
  const letters = ["a", "b", "c"];
  const session = await at.open();
  let isOver = false;
  /** Sessions that come and go, and leave the same bytes behind. */
  async function churn(): Promise<void> {
    for (let round = 0; round < 40; round++) {
      const passing = await at.open();
      await Promise.all(letters.map((letter) => passing.call("large", letter)));
      await at.kernel.closeSession(passing.id);
    }
    isOver = true;
  }
  async function collect(): Promise<void> {
    while (!isOver) await at.kernel.collect(ALL);
  }
  const hashes: Uint8Array[] = [];
  async function use(): Promise<void> {
    for (let round = 0; !isOver; round++) {
      const letter = letters[round % letters.length] ?? "a";
      const { hash } = await session.call("large", letter);
      if (hash !== undefined) hashes.push(hash);
      hashes.push(await at.put(session.id, Buffer.alloc(100_000, letter)));
    }
  }
  await Promise.all([churn(), collect(), use()]);
  assert.ok(hashes.length > 10);
  for (const hash of hashes) {
    const { chunks, size } = await at.kernel.getContent(session.id, hash, 0, 200_000);
    assert.equal(Buffer.concat(await Array.fromAsync(chunks)).length, size);
  }
  await at.verify();
});
