import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type CallResult, createKernel, defineTool, type JsonValue, narthexTools, serve, type Tool } from "narthex";

/** Fails to compile unless both are the very same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_equal: Same<A, B>): void => {};

const plain = { description: "Is called.", tier: "read_only" } as const;
const add = defineTool({
  ...plain,
  name: "add",
  inputSchema: { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a", "b"] },
  outputSchema: { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] },
  run: ({ a, b }) => ({ sum: a + b }),
});
const letters = defineTool({
  ...plain,
  name: "letters",
  inputSchema: { type: "integer" },
  resultType: "string",
  run: (count) => "é".repeat(count),
});
const bytes = defineTool({
  ...plain,
  name: "bytes",
  inputSchema: true,
  resultType: "stream",
  run: async function* () {
    yield Buffer.from("one ");
    yield Buffer.from("two");
  },
});
const custom = defineTool({
  ...plain,
  name: "custom",
  inputSchema: true,
  normaliseCustom: () => Buffer.from("[1]"),
  run: () => "own form",
});
const fails = defineTool({
  ...plain,
  name: "fails",
  inputSchema: true,
  run: () => Promise.reject(new Error("no")),
});
const forbidden = defineTool({ ...plain, name: "forbidden", inputSchema: true, run: () => 1 });

const mark = defineTool({
  ...plain,
  name: "mark",
  inputSchema: true,
  tier: "side_effecting",
  run: () => 1,
});

const directory = await mkdtemp(join(tmpdir(), "narthex-session-"));
const may = '@id("may-mark") permit(principal, action == Action::"mark", resource);';
const rule = '@id("never") @message("nothing of this") forbid(principal, action == Action::"forbidden", resource);';
const kernel = await createKernel({
  data: join(directory, "home"),
  tools: [add, letters, bytes, custom, fails, forbidden, mark],
  policies: [{ name: "test.cedar", text: `${may}\n${rule}` }],
});
const workspace = await mkdtemp(join(directory, "workspace-"));
const session = await kernel.session({ workspace, lease: { budgets: { calls: 100 } } });
after(async () => {
  await kernel.close();
  await rm(directory, { recursive: true });
});

test("a denial and an error describe what happened without the wire message", async () => {
  const denied = await session.call("forbidden", 1);
  assert.ok(denied.status === "denied");
  assert.deepEqual([denied.code, denied.rule, denied.message], ["POLICY_DENIED", "never", "nothing of this"]);
  const invalid = await session.callTool("add", { a: "1" });
  assert.ok(invalid.status === "error");
  assert.deepEqual(
    [
      invalid.code,
      invalid.violations.map(({ field }) => field),
      invalid.hasPossibleEffects,
      invalid.rule,
      invalid.value,
    ],
    ["INVALID_INPUT", ["b", "a"], false, undefined, undefined],
  );
  const failed = await session.call("fails", null);
  assert.ok(failed.status === "error");
  assert.deepEqual([failed.code, failed.hasPossibleEffects], ["EXECUTION_FAILED", false]);
});

test("a value has its tool's type, also when restored from its bytes", async () => {
  const sum = await session.call("add", { a: 1, b: 2 });
  assert.ok(sum.status === "success");
  same<typeof sum.value, { sum: number }>(true);
  assert.deepEqual([sum.value.sum, sum.message, sum.isRepeated, sum.size], [3, '{"sum":3}', false, 9]);
  const twice = async <R>(call: (options: { requestId: string }) => Promise<CallResult<R>>, requestId: string) => {
    const [first, again] = [await call({ requestId }), await call({ requestId })];
    assert.ok(first.status === "success" && again.status === "success" && again.isRepeated, requestId);
    assert.equal(again.raw, undefined);
    return [first.value, again.value] as const;
  };
  const [, repeated] = await twice((options) => session.call("add", { a: 2, b: 2 }, options), "add");
  same<typeof repeated, { sum: number } | undefined>(true);
  assert.deepEqual(repeated, { sum: 4 });
  const [text, textAgain] = await twice((options) => session.call("letters", 3, options), "letters");
  assert.deepEqual([text, textAgain], ["ééé", "ééé"]);
  const [streamed, streamedAgain] = await twice((options) => session.call("bytes", null, options), "bytes");
  same<typeof streamed, Uint8Array | undefined>(true);
  assert.equal(Buffer.from(streamed ?? []).toString(), "one two");
  assert.deepEqual(streamedAgain, streamed);
  // Larger than what an answer carries; and bytes in a form that only the tool knows.
  assert.deepEqual((await twice((options) => session.call("letters", 600_000, options), "large"))[1], undefined);
  assert.deepEqual(await twice((options) => session.call("custom", null, options), "custom"), ["own form", undefined]);
});

test("unknown tool names and inputs do not compile, and any name can be called at run time", async () => {
  // @ts-expect-error: there is no such tool.
  const typo = await session.call("ad", { a: 1, b: 2 });
  assert.equal(typo.code, "TOOL_NOT_FOUND");
  // @ts-expect-error: a text is no integer.
  const wrong = await session.call("add", { a: "1", b: 2 });
  assert.equal(wrong.code, "INVALID_INPUT");
  const built = await session.call("echo", { text: "hello" });
  assert.deepEqual(built.value, { text: "hello" });
  const loose = await session.callTool("add", { a: 1, b: 1 });
  assert.deepEqual(loose.value, { sum: 2 });
  assert.ok(Object.hasOwn(narthexTools(session), "add"), "a typed session is a session for agents");
  // Tools whose names the compiler does not know: any name is taken.
  const open = (tools: Tool[]) => createKernel({ tools });
  type Loose = Awaited<ReturnType<Awaited<ReturnType<typeof open>>["session"]>>;
  const call = (given: Loose): Promise<CallResult> => given.call("whatever", {} satisfies JsonValue);
  assert.equal(call.length, 1);
});

test("a delegated session has fewer rights, spends its parent's budget and returns the remainder", async () => {
  const left = async () => (await kernel.getSession(session.id))?.budgetRemaining.calls ?? 0;
  const before = await left();
  const child = await session.delegate({ lease: { tool_patterns: ["add"], budgets: { calls: 2 } } });
  assert.equal(await left(), before - 2);
  assert.deepEqual((await child.call("add", { a: 1, b: 2 })).value, { sum: 3 });
  const beyond = await child.call("letters", 1);
  assert.deepEqual([beyond.status, beyond.code], ["denied", "LEASE_SCOPE"]);
  const grandchild = await child.delegate({ lease: { budgets: { calls: 1 } } });
  await assert.rejects(() => child.delegate({ lease: { tool_patterns: ["*"] } }), { code: "LEASE_INVALID" });
  await assert.rejects(() => session.delegate({ sessionId: session.id } as object), /`sessionId` is not known/);
  await assert.rejects(() => session.delegate({ agent: "other" } as object), /`agent` is not known/);
  await grandchild.close();
  await child.close();
  assert.equal((await child.call("add", { a: 1, b: 2 })).code, "SESSION_CLOSED");
  assert.equal(await left(), before - 1);
});

test("the ledger is read as plain values: pages, one record, one call, and new records", async () => {
  const own = await kernel.session({ workspace, agent: "reader" });
  const following = new AbortController();
  const lines: string[] = [];
  const followed = (async () => {
    for await (const { summary, call } of kernel.ledger.follow({ session: own.id, signal: following.signal })) {
      lines.push(summary);
      if (call?.tool === "forbidden@1.0.0") break;
    }
  })();
  const wrote = await own.call("mark", null);
  await own.call("add", { a: 1, b: 2 }, { requestId: "sum" });
  await own.call("add", { a: 1, b: 2 }, { requestId: "sum" });
  await own.callTool("add", {});
  await own.call("forbidden", 1);
  await followed;
  const { records, next } = await kernel.ledger.list({ session: own.id });
  assert.equal(next, undefined);
  const [opened] = records;
  assert.ok(opened !== undefined);
  assert.deepEqual(
    [opened.call, opened.entries.map(({ kind }) => kind), opened.entries[0]?.fields["agent"]],
    [undefined, ["SessionOpened", "LeaseGranted"], "reader"],
  );
  assert.match(opened.summary, /^session opened by reader on /);
  assert.ok(Math.abs(Date.now() - opened.time.getTime()) < 600_000);
  const calls = records.flatMap(({ call }) => call ?? []);
  assert.deepEqual(
    calls.map(({ tool, decision, rules, outcome, code }) => [tool, decision, rules, outcome, code]),
    [
      ["mark@1.0.0", "allowed", ["may-mark"], undefined, undefined],
      ["mark@1.0.0", "allowed", ["may-mark"], "success", undefined],
      ["add@1.0.0", "allowed", ["without-effects"], "success", undefined],
      ["add@1.0.0", "allowed", ["without-effects"], "repeated", undefined],
      ["add@1.0.0", undefined, [], "error", "INVALID_INPUT"],
      ["forbidden@1.0.0", "denied", ["never"], "denied", "POLICY_DENIED"],
    ],
  );
  assert.equal(lines.length, calls.length);
  // A call's outcome names its tool, also where the record that does comes before the page.
  const last = await kernel.ledger.get({ session: own.id, requestId: wrote.requestId });
  assert.equal(last?.call?.tool, "mark@1.0.0");
  assert.deepEqual(await kernel.ledger.get(last.index), last);
  const first = await kernel.ledger.list({ from: opened.index, limit: 2, session: own.id });
  assert.deepEqual(first.records, records.slice(0, 2));
  const rest = await kernel.ledger.list({ from: first.next ?? 0, session: own.id });
  assert.deepEqual(rest.records, records.slice(2));
  assert.equal(await kernel.ledger.get(1_000_000), undefined);
  for (const query of [{ limit: 0 }, { limit: 1001 }, { form: 1 } as object, { from: -1 }]) {
    await assert.rejects(() => kernel.ledger.list(query), { code: "INVALID_INPUT" });
  }
});

describe("a tool that is registered while the kernel runs", () => {
  const late = (name: string, more: Partial<Tool> = {}) => ({
    ...defineTool({
      ...plain,
      name,
      inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      determinism: "pure",
      run: ({ n }) => n * 2,
    }),
    ...more,
  });
  const permitting = (name: string, when = "") =>
    `@id("may-${name}") permit(principal, action == Action::"${name}", resource)${when};`;

  it("is available to new sessions and to leases that cover its name, is recorded, and is announced to clients", async (t) => {
    const covering = await kernel.session({ workspace, lease: { tool_patterns: ["file_read", "late_*"] } });
    const doors = await serve(kernel, {
      services: [{ host: "127.0.0.1", port: 0 }],
      mcp: { version: "1", elicitation: false },
    });
    let told = Promise.withResolvers<void>();
    const listChanged = { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => told.resolve() } };
    const client = new Client({ name: "test", version: "1" }, { listChanged });
    const [address] = doors.addresses.services;
    assert.ok(address !== undefined && "port" in address);
    const requestInit = { headers: { authorization: `Bearer ${covering.token}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${address.port}/mcp`), { requestInit }),
    );
    t.after(async () => {
      await client.close();
      await doors.close();
    });
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    assert.ok(!(await names()).includes("late_double"));
    assert.equal((await covering.callTool("late_double", { n: 2 })).code, "TOOL_NOT_FOUND");
    assert.equal(kernel.tools.get("late_double"), undefined);

    const facts = await kernel.tools.register(late("late_double"));
    assert.deepEqual([facts.declaration.name, facts.state], ["late_double", "ready"]);
    assert.deepEqual(kernel.tools.get("late_double"), facts);
    assert.ok(kernel.tools.list().some(({ declaration }) => declaration.name === "late_double"));
    assert.equal((await covering.callTool("late_double", { n: 2 })).value, 4);
    assert.equal((await session.callTool("late_double", { n: 2 })).code, "LEASE_SCOPE", "its lease is older");
    const newer = await kernel.session({ workspace });
    assert.equal((await newer.callTool("late_double", { n: 3 })).value, 6);
    assert.equal((await newer.callTool("late_double", { n: "3" })).code, "INVALID_INPUT");
    const { records } = await kernel.ledger.list({ session: "system" });
    const registered = records.find(({ summary }) => summary.endsWith("registered late_double@1.0.0"));
    assert.deepEqual(
      registered?.entries.map(({ kind }) => kind),
      ["PolicyLoaded", "ToolRegistered"],
    );
    await told.promise;
    assert.ok((await names()).includes("late_double"));
    const asked = { sessionIds: [newer.id], skipVerify: true, digestOnly: false, listCalls: false };
    const replayed = await Array.fromAsync(kernel.replay(asked, new AbortController().signal));
    const reports = replayed.flatMap(({ event }) => (event?.case === "report" ? [event.value] : []));
    assert.deepEqual(
      reports.map(({ clean, ran }) => [clean, ran]),
      [[true, 1n]],
    );

    told = Promise.withResolvers<void>();
    await kernel.tools.unregister("late_double");
    await told.promise;
    assert.ok(!(await names()).includes("late_double"));
  });

  it("is rejected with a taken name or with rules that do not fit it, and nothing changes", async () => {
    const before = kernel.policyFacts();
    const count = kernel.tools.list().length;
    const misfit = [{ name: "misfit.cedar", text: permitting("late_misfit", " when { context.input.m == 1 }") }];
    const refused: [Tool, object, string, RegExp][] = [
      [
        late("echo", { version: "9.0.0" }),
        {},
        "ALREADY_REGISTERED",
        /there is a tool `echo@1\.0\.0` already: give this one another name/,
      ],
      [late("add"), {}, "ALREADY_REGISTERED", /`add@1\.0\.0`/],
      [late("git_push"), {}, "ALREADY_REGISTERED", /two tools go by the action `git_push`/],
      [late("late_misfit"), { policies: misfit }, "POLICY_INVALID", /misfit\.cedar:1/],
      [late("late_x"), { policies: [{ name: "test.cedar", text: "" }] }, "POLICY_INVALID", /`test\.cedar`/],
      [late("late_x"), { policy: [] }, "INVALID_INPUT", /did you mean policies\?/],
      [late("late_x", { effects: ["net_read"], tier: "read_only" }), {}, "INVALID_DECLARATION", /capabilit/],
      [{ name: "late_x" } as Tool, {}, "INVALID_DECLARATION", /./],
    ];
    for (const [tool, options, code, message] of refused) {
      await assert.rejects(
        () => kernel.tools.register(tool, options),
        { name: "KernelError", code, message },
        tool.name,
      );
    }
    assert.deepEqual([kernel.policyFacts(), kernel.tools.list().length], [before, count]);
  });

  it("adds its rules, and a policy reloaded meanwhile includes them", async () => {
    const changing = late("late_write", { tier: "side_effecting", determinism: "nondeterministic" });
    const rules = [{ name: "late.cedar", text: permitting("late_write", " when { context.input.n < 5 }") }];
    const running = session.call("bytes", null);
    const [first, second] = await Promise.allSettled([
      kernel.tools.register(changing, { policies: rules }),
      kernel.tools.register(changing, { policies: rules }),
      kernel.reloadPolicy("ann"),
    ]);
    assert.deepEqual([first?.status, second?.status], ["fulfilled", "rejected"]);
    assert.equal((await running).status, "success");
    await kernel.reloadPolicy("ann");
    const newer = await kernel.session({ workspace });
    assert.equal((await newer.callTool("late_write", { n: 4 })).value, 8);
    const denied = await newer.callTool("late_write", { n: 5 });
    assert.deepEqual([denied.status, denied.code], ["denied", "NO_MATCHING_RULE"]);
  });

  it("is removed with its rules: running calls finish, later ones find no tool", async () => {
    const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = defineTool({
      ...plain,
      name: "late_slow",
      inputSchema: true,
      tier: "side_effecting",
      async run() {
        begun.resolve();
        await go.promise;
        return "done";
      },
    });
    await kernel.tools.register(slow, { policies: [{ name: "slow.cedar", text: permitting("late_slow") }] });
    const own = await kernel.session({ workspace });
    const running = own.callTool("late_slow", null);
    await begun.promise;
    await kernel.tools.unregister("late_slow");
    assert.equal((await own.callTool("late_slow", null)).code, "TOOL_NOT_FOUND");
    go.resolve();
    assert.equal((await running).value, "done");
    assert.equal(kernel.tools.get("late_slow"), undefined);
    const { records } = await kernel.ledger.list({ session: "system", limit: 1000 });
    assert.match(records.at(-1)?.summary ?? "", /policy loaded.* unregistered late_slow@1\.0\.0$/);
    await kernel.reloadPolicy("ann");
    for (const name of ["late_slow", "echo", "never"]) {
      await assert.rejects(() => kernel.tools.unregister(name), { code: "TOOL_NOT_FOUND" });
    }
    await kernel.tools.register(late("late_slow"));
    await kernel.tools.unregister("late_slow");
  });

  it("is rejected by a closing kernel", async () => {
    await kernel.close();
    await assert.rejects(() => kernel.tools.register(late("late_last")), { code: "STORE_UNAVAILABLE" });
  });
});
