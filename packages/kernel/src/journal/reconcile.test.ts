import assert from "node:assert/strict";
import { mock, test } from "node:test";
import {
  createCountingTool,
  createMemoryContentStore,
  createMemoryStore,
  createTestKernel,
  type MemoryStore,
  permitAll,
  type TestKernel,
} from "@narthex/testkit";
import type { CallResult } from "../kernel.ts";
import { defineTool } from "../tool/define-tool.ts";
import { verifyStore } from "../testing/verify-store.ts";
import { bindToPorts } from "../tool/port-bound-tools.ts";
import { scriptPrograms } from "../call/grant/testing/scripted-programs.ts";
import type { Reconciliation, Tool } from "../tool/tool.ts";

// A kernel that crashed leaves calls running for ever; their time-outs must not keep the test alive.
mock.timers.enable({ apis: ["setTimeout"] });

const codeOf = ({ response: { result } }: CallResult) =>
  result.case === "error" ? result.value.errorCode : result.case;

const approver = { door: "test", ask: async () => ({ approved: true, approver: "ann" }) };

/** A kernel that dies while its tool runs: what was durable is in the store, nothing else is. */
async function crashDuring(
  tool: Tool,
  started: Promise<void>,
  store: MemoryStore,
  approve: "unstated" | "human" = "unstated",
) {
  const { open } = await createTestKernel({ tools: [tool], store, policy: permitAll([tool], approve), approver });
  const session = await open();
  void session.call(tool.name, { n: 1 }, { requestId: "lost", dedupeKey: "key" });
  await started;
  return session;
}

/** The next kernel on the same store. */
function restart(tool: Tool, store: MemoryStore): Promise<TestKernel> {
  return createTestKernel({ tools: [tool], store });
}

function hangingTool() {
  const started = Promise.withResolvers<void>();
  const tool = createCountingTool("count", () => {
    started.resolve();
    return new Promise(() => undefined);
  }).tool;
  return { tool, started: started.promise };
}

test("after a crash an equal call is OUTCOME_UNKNOWN, by id, by key and without either", async () => {
  const store = createMemoryStore();
  const { tool, started } = hangingTool();
  const session = await crashDuring(tool, started, store);
  const next = createCountingTool();
  const { kernel } = await restart(next.tool, store);
  const call = (options: object) =>
    kernel.callInProcess({ token: session.token, tool: "count", input: { n: 1 }, ...options });
  for (const options of [{ requestId: "lost" }, { dedupeKey: "key" }, {}]) {
    const { result } = (await call(options)).response;
    assert.ok(result.case === "error");
    const { errorCode, effectsPossible, retryable } = result.value;
    assert.deepEqual([errorCode, effectsPossible, retryable], ["OUTCOME_UNKNOWN", true, false]);
  }
  assert.equal(next.count(), 0);
  assert.equal(codeOf(await kernel.callInProcess({ token: session.token, tool: "count", input: { n: 2 } })), "success");
  assert.equal((await kernel.listIntents())[0]?.state, "unknown");
});

test("a call settled as not happened may run, and one settled as happened never runs again under its id", async () => {
  for (const answer of ["did_not_happen", "happened"] as const) {
    const store = createMemoryStore();
    const { tool, started } = hangingTool();
    const session = await crashDuring(tool, started, store);
    const next = createCountingTool();
    const { kernel } = await restart(next.tool, store);
    await kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer, by: "ann" });
    assert.deepEqual(await kernel.listIntents(), []);
    const again = await kernel.callInProcess({
      token: session.token,
      tool: "count",
      input: { n: 1 },
      requestId: "lost",
    });
    assert.equal(codeOf(again), answer === "happened" ? "OUTCOME_UNKNOWN" : "success");
    assert.equal(next.count(), answer === "happened" ? 0 : 1);
    await assert.rejects(
      kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer, by: "ann" }),
      /INTENT_NOT_FOUND|unknown outcome/,
    );
  }
});

test("a tool that can reconcile settles its own lost calls, and the same request gets the result", async () => {
  const answers: [Reconciliation, string, string | undefined][] = [
    [{ happened: { count: 7 } }, "success", '{"count":7}'],
    ["did_not_happen", "success", '{"count":1}'],
    ["unknown", "OUTCOME_UNKNOWN", undefined],
  ];
  for (const [answer, code, text] of answers) {
    const store = createMemoryStore();
    const { tool, started } = hangingTool();
    const session = await crashDuring(tool, started, store);
    const next = createCountingTool();
    const { kernel } = await restart(defineTool({ ...next.tool, reconcile: async () => answer }), store);
    const again = await kernel.callInProcess({
      token: session.token,
      tool: "count",
      input: { n: 1 },
      requestId: "lost",
    });
    assert.equal(codeOf(again), code);
    if (text !== undefined) assert.equal(Buffer.from(again.normalised ?? []).toString(), text);
  }
});

test("an unsettled call's reservation counts as spent until it is settled", async () => {
  const store = createMemoryStore();
  const { tool, started } = hangingTool();
  const first = await createTestKernel({ tools: [tool], store });
  const session = await first.open({ lease: { budgets: { calls: 2 } } });
  void session.call("count", {}, { requestId: "lost" });
  await started;
  const { kernel } = await restart(createCountingTool().tool, store);
  assert.deepEqual((await kernel.getSession(session.id))?.budgetRemaining, { calls: 1 });
  await kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer: "did_not_happen", by: "ann" });
  assert.deepEqual((await kernel.getSession(session.id))?.budgetRemaining, { calls: 2 });
});

test("sessions, responses, keys and call numbers survive a restart", async () => {
  const store = createMemoryStore();
  const before = createCountingTool();
  const first = await createTestKernel({ tools: [before.tool], store });
  const session = await first.open();
  await session.call("count", { n: 1 }, { requestId: "one", dedupeKey: "key" });
  const after = createCountingTool();
  const { kernel, records } = await restart(after.tool, store);
  const call = (options: object) =>
    kernel.callInProcess({ token: session.token, tool: "count", input: { n: 1 }, ...options });
  assert.equal(codeOf(await call({ requestId: "one" })), "success");
  assert.equal(codeOf(await call({ requestId: "two", dedupeKey: "key" })), "success");
  assert.equal(after.count(), 0);
  await call({ requestId: "three" });
  const numbers = (await records(session.id)).flatMap((record) =>
    record.entries.flatMap(({ kind }) => (kind.case === "toolStarted" ? [Number(kind.value.callNumber)] : [])),
  );
  assert.deepEqual(numbers, [1, 2]);
});

test("the ledger verifies after a settlement by a person or by a tool", async () => {
  for (const by of ["person", "tool"] as const) {
    for (const answer of ["happened", "did_not_happen"] as const) {
      for (const approve of ["unstated", "human"] as const) {
        const store = createMemoryStore();
        const { tool, started } = hangingTool();
        const session = await crashDuring(tool, started, store, approve);
        const next = createCountingTool();
        const found: Reconciliation =
          by === "person" ? "unknown" : answer === "happened" ? { happened: { count: 7 } } : answer;
        const { kernel } = await restart(defineTool({ ...next.tool, reconcile: async () => found }), store);
        if (by === "person") await kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer, by: "ann" });
        await kernel.callInProcess({ token: session.token, tool: "count", input: { n: 1 }, requestId: "lost" });
        await verifyStore(store);
        assert.equal(next.count(), answer === "happened" ? 0 : 1, `${by} ${answer} ${approve}`);
      }
    }
  }
});

test("a call settled as happened does not run again: by id, by key, with other content, after a restart", async () => {
  const store = createMemoryStore();
  const { tool, started } = hangingTool();
  const session = await crashDuring(tool, started, store);
  const next = createCountingTool();
  const { kernel: first } = await restart(next.tool, store);
  await first.settleIntent({ sessionId: session.id, requestId: "lost", answer: "happened", by: "ann" });
  for (const restarted of [false, true]) {
    const kernel = restarted ? (await restart(next.tool, store)).kernel : first;
    const call = (input: { n: number }, options: object) =>
      kernel.callInProcess({ token: session.token, tool: "count", input, ...options });
    assert.equal(codeOf(await call({ n: 1 }, { requestId: "lost" })), "OUTCOME_UNKNOWN");
    assert.equal(codeOf(await call({ n: 1 }, { dedupeKey: "key" })), "OUTCOME_UNKNOWN");
    assert.equal(codeOf(await call({ n: 2 }, { requestId: "lost" })), "DUPLICATE_REQUEST_ID");
    assert.equal(codeOf(await call({ n: 2 }, { dedupeKey: "key" })), "DEDUPE_CONFLICT");
    assert.deepEqual(await kernel.listIntents(), []);
    await assert.rejects(
      kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer: "did_not_happen", by: "eve" }),
      /unknown outcome/,
    );
  }
  assert.equal(next.count(), 0);
  await (await restart(next.tool, store)).kernel.closeSession(session.id);
  assert.deepEqual(await store.listState("intents", "", 10), []);
  assert.deepEqual(await store.listState("dedupe", "", 10), []);
});

test("a reconciled result is also given for the lost call's key", async () => {
  const store = createMemoryStore();
  const { tool, started } = hangingTool();
  const session = await crashDuring(tool, started, store);
  const next = createCountingTool();
  const { kernel } = await restart(
    defineTool({ ...next.tool, reconcile: async () => ({ happened: { count: 7 } }) }),
    store,
  );
  const again = await kernel.callInProcess({ token: session.token, tool: "count", input: { n: 1 }, dedupeKey: "key" });
  assert.equal(Buffer.from(again.normalised ?? []).toString(), '{"count":7}');
  assert.equal(next.count(), 0);
});

test("a tool settles its own lost call with input of any size, also after an approval", async () => {
  for (const approve of ["unstated", "human"] as const) {
    const shared = { store: createMemoryStore(), contentStore: createMemoryContentStore() };
    const input = { text: "x".repeat(200_000) };
    const { tool, started } = hangingTool();
    const first = await createTestKernel({
      tools: [tool],
      policy: permitAll([tool], approve),
      approver,
      ...shared,
    });
    const session = await first.open();
    void session.call("count", input, { requestId: "lost" });
    await started;
    const seen: unknown[] = [];
    const reconciling = defineTool({
      ...createCountingTool().tool,
      reconcile: async (intent) => {
        seen.push(intent.input);
        return "did_not_happen";
      },
    });
    const { kernel } = await createTestKernel({ tools: [reconciling], ...shared });
    assert.deepEqual(seen, [input]);
    assert.deepEqual(await kernel.listIntents(), []);
    await verifyStore(shared.store, shared.contentStore);
  }
});

test("a tool that responds with nonsense, throws, or never responds leaves its call to a person", async () => {
  const answers: (() => Promise<Reconciliation>)[] = [
    async () => "happened" as unknown as Reconciliation,
    async () => null as unknown as Reconciliation,
    async () => ({}) as unknown as Reconciliation,
    async () => ({ happened: { wrong: 1n } }) as unknown as Reconciliation,
    () => Promise.reject(new Error("no")),
    () => new Promise(() => undefined),
  ];
  for (const answer of answers) {
    const store = createMemoryStore();
    const { tool, started } = hangingTool();
    const session = await crashDuring(tool, started, store);
    const next = createCountingTool();
    const restarted = restart(defineTool({ ...next.tool, bounds: { timeoutMs: 10 }, reconcile: answer }), store);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    mock.timers.tick(10);
    const { kernel } = await restarted;
    const again = await kernel.callInProcess({
      token: session.token,
      tool: "count",
      input: { n: 1 },
      requestId: "lost",
    });
    assert.equal(codeOf(again), "OUTCOME_UNKNOWN");
    assert.equal(next.count(), 0);
  }
});

test("the second of two concurrent settlements is told that there is nothing to settle", async () => {
  const store = createMemoryStore();
  const { tool, started } = hangingTool();
  const session = await crashDuring(tool, started, store);
  const { kernel } = await restart(createCountingTool().tool, store);
  const settle = (answer: "happened" | "did_not_happen") =>
    kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer, by: "ann" });
  const settled = await Promise.allSettled([settle("happened"), settle("did_not_happen")]);
  assert.deepEqual(settled.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  await verifyStore(store);
});

test("settles a lost call of a session closed since, and several at once keep the chain intact", async () => {
  const store = createMemoryStore();
  const running = Promise.withResolvers<void>();
  let count = 0;
  const tool = createCountingTool("count", () => {
    if (++count === 3) running.resolve();
    return new Promise(() => undefined);
  }).tool;
  const session = await (await createTestKernel({ tools: [tool], store })).open();
  for (const n of [1, 2, 3]) void session.call("count", { n }, { requestId: `lost${n}` });
  await running.promise;
  const { kernel } = await restart(createCountingTool().tool, store);
  await kernel.closeSession(session.id);
  assert.equal((await kernel.listIntents()).length, 3);
  const release = store.holdAppends();
  const settlements = [1, 2, 3].map((n) =>
    kernel.settleIntent({ sessionId: session.id, requestId: `lost${n}`, answer: "happened", by: "ann" }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  release();
  await Promise.all(settlements);
  assert.deepEqual(await kernel.listIntents(), []);
  assert.deepEqual(await store.listState("intents", "", 10), []);
  await verifyStore(store);
});

test("rejects settling a call that is running", async () => {
  const { tool, started } = hangingTool();
  const { open, kernel } = await createTestKernel({ tools: [tool] });
  const session = await open();
  void session.call("count", {}, { requestId: "r" });
  await started;
  assert.equal((await kernel.listIntents())[0]?.state, "running");
  await assert.rejects(
    kernel.settleIntent({ sessionId: session.id, requestId: "r", answer: "happened", by: "ann" }),
    /unknown outcome/,
  );
});

/** A tool that changes things through programs only, on a host that knows whether those have ended. */
async function crashWithPrograms(
  haveEnded: boolean | "unknown",
  changes: Partial<Parameters<typeof defineTool>[0]> = {},
  bind: (tool: Tool) => Tool = bindToPorts,
) {
  const store = createMemoryStore();
  const started = Promise.withResolvers<void>();
  const make = (run: () => Promise<never> | number): Tool =>
    bind(
      defineTool({
        name: "runs",
        description: "Runs a program.",
        inputSchema: true,
        isolation: "process",
        source: "builtin",
        effects: ["fs_write"],
        capabilities: [{ kind: "fs_write", prefixes: [] }],
        changesByPrograms: true,
        ...changes,
        run,
      }),
    );
  const asked: string[] = [];
  const programs = {
    ...scriptPrograms({}),
    currentRun: () => Promise.resolve("run-1"),
    haveEnded(run: string, call: string): Promise<boolean> {
      asked.push(`${run} ${call}`);
      return haveEnded === "unknown" ? Promise.reject(new Error("not known")) : Promise.resolve(haveEnded);
    },
  };
  const hanging = make(() => {
    started.resolve();
    return new Promise<never>(() => undefined);
  });
  const first = await createTestKernel({ tools: [hanging], store, programs, policy: permitAll([hanging]) });
  const capabilities = [
    { kind: "fs_write", prefixes: ["/"] },
    { kind: "net_read", hosts: [{ host: "example.com", ports: [443] }] },
  ] as const;
  const session = await first.open({ lease: { capabilities } });
  const ended = session.call("runs", { n: 1 }, { requestId: "lost", dedupeKey: "key" });
  const early = await Promise.race([started.promise, ended]);
  assert.equal(early && codeOf(early), undefined);
  let runs = 0;
  const counting = make(() => ++runs);
  const { kernel } = await createTestKernel({ tools: [counting], store, programs, policy: permitAll([counting]) });
  const code = async (requestId: string, dedupeKey = ""): Promise<string | undefined> =>
    codeOf(await kernel.callInProcess({ token: session.token, tool: "runs", input: { n: 1 }, requestId, dedupeKey }));
  return { store, kernel, code, asked, runs: () => runs, sessionId: session.id };
}

test("a lost call whose programs provably ended is KILLED, and an equal call runs", async () => {
  const { store, kernel, code, asked, runs, sessionId } = await crashWithPrograms(true);
  assert.deepEqual(asked, [`run-1 ${sessionId}/lost`]);
  assert.deepEqual(await kernel.listIntents(), []);
  assert.deepEqual([await code("lost"), await code("other", "key"), runs()], ["KILLED", "KILLED", 0]);
  assert.deepEqual([await code("equal"), runs()], ["success", 1]);
  await verifyStore(store);
});

test("a lost call stays unknown if its programs may still run, may have used the network, or are only part of it", async () => {
  const net = { effects: ["net_read"], capabilities: [{ kind: "net_read", hosts: [] }] } as const;
  for (const [why, made] of [
    ["they may run", crashWithPrograms(false)],
    ["it cannot be found out", crashWithPrograms("unknown")],
    ["they had a network", crashWithPrograms(true, net)],
    ["the tool is not made of programs alone", crashWithPrograms(true, { changesByPrograms: false })],
    ["the tool's code is not the kernel's", crashWithPrograms(true, {}, (tool) => tool)],
  ] as const) {
    const { kernel, code, runs } = await made;
    assert.deepEqual([await code("lost"), await code("equal")], ["OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"], why);
    assert.deepEqual([(await kernel.listIntents()).length, runs()], [1, 0], why);
  }
});
