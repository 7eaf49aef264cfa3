import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { test, type TestContext } from "node:test";
import type { NodeResponse } from "../service/http-listener.ts";
import { until } from "../test-socket.ts";
import { DEFAULT_CONSOLE_LIMITS } from "./console-limits.ts";
import { runLiveStream } from "./live-stream.ts";
import { createTestBackend, openTestConsole, readEvents } from "./test-console.ts";

type TestConsole = Awaited<ReturnType<typeof openTestConsole>>;

async function openLive(t: TestContext, { port, origin }: TestConsole, headers: Record<string, string>) {
  const outgoing = request({
    host: "127.0.0.1",
    port,
    method: "POST",
    path: "/console/api/live",
    headers: { origin, "content-type": "application/json", ...headers },
    agent: false,
  });
  outgoing.on("error", () => undefined);
  t.after(() => outgoing.destroy());
  outgoing.end("{}");
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return response;
}

/** The next event of a kind; others are passed over. */
async function nextOf(events: AsyncGenerator<Record<string, unknown>>, kind: string): Promise<Record<string, unknown>> {
  for (;;) {
    const next = await events.next();
    if (next.done === true) assert.fail(`the stream ended before \`${kind}\``);
    if (next.value["kind"] === kind) return next.value;
  }
}

const INVOKED = { kind: { case: "toolInvoked", value: { toolName: "echo", toolVersion: "1.0.0" } } } as const;
const COMPLETED = {
  kind: { case: "toolCompleted", value: { success: true, durationMs: 7n, resultSize: 3n } },
} as const;

test("buffers only a few lines for a reader that does not read", async (t) => {
  const backend = createTestBackend();
  const leaving = new AbortController();
  t.after(() => leaving.abort());
  let lines = 0;
  const wire = new PassThrough({ highWaterMark: 1024 });
  const write = wire.write.bind(wire);
  const response = Object.assign(wire, {
    setHeader: () => undefined,
    write(text: string) {
      lines++;
      return write(text);
    },
  });
  const limits = { ...DEFAULT_CONSOLE_LIMITS, beatMs: 1 };
  const options = { kernel: backend.kernel, limits, greeting: {}, signal: leaving.signal, nowMs: () => 0 };
  const running = runLiveStream(response as unknown as NodeResponse, options);
  for (let i = 0; i < 1000; i++) {
    backend.addQuestion({ approvalId: `apr_${i}`, input: { command: "x".repeat(2000) } });
    backend.addRecord(`r${i}`, [INVOKED, COMPLETED]);
  }
  for (let beats = 0; beats < 50; beats++) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.ok(lines <= 12, `${lines} lines`);

  const events = readEvents(wire);
  let asked = 0;
  for await (const { kind } of events) {
    if (kind === "asked") asked++;
    if (kind === "open" && asked === 1000) break;
  }
  leaving.abort();
  await running;
});

test("sends the approvers, pending requests and active approvals at once and after each change", async (t) => {
  const console = await openTestConsole(t);
  console.addQuestion({ input: { command: "rm \u202e-rf" } });
  const headers = await console.signIn("Grace");
  const events = readEvents(await openLive(t, console, headers));
  const hello = await nextOf(events, "hello");
  assert.deepEqual([hello["version"], hello["approver"]], ["1.2.3", "Grace"]);
  assert.deepEqual(hello["policy"], {
    hash: "05".repeat(32),
    engine: "compiled/1",
    rules: 12,
    mode: "observe",
    problem: "",
    directory: "/home/policy",
    fallback: "",
    warnings: [],
  });
  const { approval } = (await nextOf(events, "asked")) as { approval: { id: string; input: { fields: unknown[] } } };
  assert.equal(approval.id, "apr_0");
  assert.deepEqual(approval.input.fields, [
    {
      name: "command",
      isText: true,
      text: ["rm ", { kind: "hidden", character: "\u202e", codePoint: "U+202E", count: 1 }, "-rf"],
      size: 7,
      shown: 7,
    },
  ]);
  const open = await nextOf(events, "open");
  assert.deepEqual([open["ids"], open["left"]], [["apr_0"], []]);
  console.addQuestion({ isAwaited: false });
  assert.deepEqual((await nextOf(events, "open"))["left"], ["apr_1"]);
  await console.ask("answer", { id: "apr_0", answer: "once", reason: "" }, headers);
  assert.deepEqual((await nextOf(events, "open"))["ids"], ["apr_1"]);
});

test("sends calls as they end, including those just before the page opened, and how requests were decided", async (t) => {
  const console = await openTestConsole(t);
  console.addRecord("r1", [INVOKED, COMPLETED]);
  const events = readEvents(await openLive(t, console, await console.signIn()));
  const first = (await nextOf(events, "call"))["call"] as Record<string, unknown>;
  assert.deepEqual([first["tool"], first["index"], first["durationMs"], first["success"]], ["echo@1.0.0", 0, 7, true]);
  const resolved = { approvalId: "apr_9", answer: "approved", scope: "once", door: "cli", approver: "Ada" };
  console.addRecord("r2", [INVOKED, { kind: { case: "approvalResolved", value: resolved } }]);
  const { answered } = await nextOf(events, "answered");
  assert.deepEqual(answered, { id: "apr_9", answer: "approved", scope: "once", door: "cli", approver: "Ada" });
  console.addRecord("r3", [{ kind: { case: "policyLoaded", value: {} } }]);
  await nextOf(events, "policy");
});

test("sends unsafe workspaces at once and when one is added", async (t) => {
  const console = await openTestConsole(t);
  console.unsafe.push({ workspace: "/one", problem: "`.vscode` (EACCES)" });
  const events = readEvents(await openLive(t, console, await console.signIn()));
  const first = { workspace: "/one", problem: "`.vscode` (EACCES)" };
  assert.deepEqual((await nextOf(events, "hello"))["unsafe"], [first]);
  console.unsafe.push({ workspace: "/two\u202e", problem: "" });
  console.addRecord("", [{ kind: { case: "protectedPathsRestored", value: { problem: "x" } } }]);
  const hidden = { kind: "hidden", character: "\u202e", codePoint: "U+202E", count: 1 };
  assert.deepEqual((await nextOf(events, "unsafe"))["unsafe"], [first, { workspace: ["/two", hidden], problem: "" }]);
});

test("a stream ends with its sign-in, its reader or the door", async (t) => {
  const console = await openTestConsole(t);
  const headers = await console.signIn();
  const signedOut = readEvents(await openLive(t, console, headers));
  await nextOf(signedOut, "hello");
  await console.ask("sign-out", {}, headers);
  for await (const event of signedOut) assert.notEqual(event["kind"], "hello");

  const left = await openLive(t, console, await console.signIn());
  await until(() => console.watchers() === 2);
  left.destroy();
  await until(() => console.watchers() === 0);

  const last = readEvents(await openLive(t, console, await console.signIn()));
  await nextOf(last, "hello");
  await console.door.close({ graceMs: 60_000 });
  for await (const event of last) assert.notEqual(event["kind"], "hello");
});

test("limits the number of open pages", async (t) => {
  const console = await openTestConsole(t, { limits: { maxLiveStreams: 1 } });
  const headers = await console.signIn();
  const first = await openLive(t, console, headers);
  await nextOf(readEvents(first), "hello");
  assert.equal((await openLive(t, console, headers)).statusCode, 503);
});
