import assert from "node:assert/strict";
import { access, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isKernelError, type JsonObject, type ToolResponse } from "@narthex/contracts";
import { type McpCaller, serve } from "@narthex/server";
import { createLastingCaller } from "../../packages/narthex/src/connection/lasting-caller.ts";
import { type LastingLink, openLastingLink } from "../../packages/narthex/src/connection/lasting-link.ts";
import type { LinkTimes } from "../../packages/narthex/src/connection/link-times.ts";
import { openKernel } from "../../packages/narthex/src/open-kernel.ts";
import { ended, type Serving, type TestHome } from "../cli/home.ts";
import { createSharedHome, holderOf, sessionsOf, startClient, until } from "./mcp/shared-home.ts";

/** A client of a home's kernels that is this very process. */
async function openLink(at: TestHome, agent: string, times: Partial<LinkTimes> = {}) {
  const link = await openLastingLink({
    home: at.home,
    command: "test",
    request: {
      workspace: at.workspace,
      workingDirectory: undefined,
      tenant: undefined,
      user: undefined,
      agent,
      seed: undefined,
      lease: undefined,
      ttlMs: undefined,
      labels: [],
      adopt: false,
    },
    renew: true,
    log: () => undefined,
    signal: new AbortController().signal,
    times,
  });
  return { link, caller: createLastingCaller(link) };
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

let calls = 0;
const call = (
  caller: McpCaller,
  name: string,
  input: JsonObject,
  requestId = `req_${calls++}`,
): Promise<ToolResponse> => caller.call({ requestId, name, input }, {});
const codeOf = ({ result }: ToolResponse): string =>
  result.case === "error" ? result.value.errorCode : result.case === "denied" ? result.value.rationaleCode : "";

describe("a kernel that hangs", { timeout: 120_000 }, () => {
  let at: TestHome;
  let holder: Awaited<ReturnType<typeof startClient>>;
  before(async () => {
    at = await createSharedHome();
    holder = await startClient(at, { agent: "holder", revision: "legacy" });
  });
  after(async () => {
    await holder.client.close();
    await at.remove();
  });

  it("is told of by whoever waits for it, and what it was asked runs once when it goes on", async () => {
    const times = { askMs: 20, silenceMs: 1000, greetingMs: 1000, waitMs: 2500 };
    const { link, caller } = await openLink(at, "waiting", times);
    assert.equal(codeOf(await call(caller, "echo", {})), "");
    const input = { command: "echo run >> hung" };
    process.kill(holder.pid, "SIGSTOP");
    const fault: unknown = await call(caller, "shell_exec", input, "hung").catch((error: unknown) => error);
    process.kill(holder.pid, "SIGCONT");
    assert.ok(isKernelError(fault) && fault.code === "KERNEL_UNREACHABLE", String(fault));
    assert.match(fault.message, new RegExp(`process ${holder.pid}.* does not answer.*may have been carried out`));
    assert.equal(codeOf(await call(caller, "shell_exec", input, "hung")), "");
    assert.equal(await readFile(join(at.workspace, "hung"), "utf8"), "run\n");
    await link.close();
  });

  it("does not get a cancelled call run by the one that takes its place", async () => {
    const { link, caller } = await openLink(at, "cancelling");
    await call(caller, "echo", {});
    const { sessionId } = link.now().session;
    process.kill(holder.pid, "SIGSTOP");
    const cancelled = call(caller, "shell_exec", { command: "echo run >> cancelled" }, "cancelled");
    const kept = call(caller, "shell_exec", { command: "echo run >> kept" }, "kept");
    caller.cancel("cancelled");
    process.kill(holder.pid, "SIGKILL");
    await assert.rejects(cancelled, (fault) => isKernelError(fault) && fault.code === "CANCELLED");
    assert.equal(codeOf(await kept), "");
    assert.equal(await exists(join(at.workspace, "cancelled")), false);
    assert.equal(await readFile(join(at.workspace, "kept"), "utf8"), "run\n");
    assert.equal(await holderOf(at), process.pid);
    assert.equal(link.now().session.sessionId, sessionId);
    await link.close();
  });
});

describe("a kernel that is served", { timeout: 120_000 }, () => {
  let at: TestHome;
  let serving: Serving;
  let link: LastingLink;
  let caller: McpCaller;
  before(async () => {
    at = await createSharedHome();
    serving = await at.serve();
    ({ link, caller } = await openLink(at, "guest", { returnMs: 60_000, waitMs: 60_000 }));
  });
  after(async () => {
    assert.equal(await serving.stop(), 0);
    await at.remove();
  });

  async function restart(meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
    serving.child.kill("SIGKILL");
    await ended(serving.child);
    await meanwhile();
    serving = await at.serve();
  }

  it("is left the time to come back, and the session goes on there", async () => {
    const { sessionId } = link.now().session;
    await restart();
    assert.equal(codeOf(await call(caller, "echo", {})), "");
    assert.equal(await holderOf(at), serving.child.pid);
    assert.equal(link.now().session.sessionId, sessionId);
    assert.equal(caller.takeNotice?.(), undefined);
  });

  it("whose store is another one gives a new session, and the client is told once", async () => {
    const { sessionId } = link.now().session;
    await restart(async () => {
      for (const part of ["store", "content"]) await rm(join(at.home, part), { recursive: true });
    });
    assert.equal(codeOf(await call(caller, "echo", {})), "");
    const now = link.now().session.sessionId;
    assert.notEqual(now, sessionId);
    assert.match(caller.takeNotice?.() ?? "", new RegExp(`new session, ${now}.*${sessionId}`));
    assert.equal(caller.takeNotice?.(), undefined);
  });

  it("gives no new session for one that was closed", async () => {
    const { sessionId } = link.now().session;
    await at.ask(["session", "close", sessionId]);
    await restart();
    assert.equal(codeOf(await call(caller, "echo", {})), "SESSION_CLOSED");
    assert.equal(link.now().session.sessionId, sessionId);
    assert.deepEqual(await sessionsOf(at), {});
  });

  it("leaves the home to a client whose session was closed, and who is told so there too", async () => {
    const other = await openLink(at, "late", { returnMs: 0 });
    await at.ask(["session", "close", other.link.now().session.sessionId]);
    await link.close();
    assert.equal(await serving.stop(), 0);
    assert.equal(codeOf(await call(other.caller, "echo", {})), "SESSION_CLOSED");
    assert.equal(await holderOf(at), process.pid);
    await other.link.close();
    serving = await at.serve();
  });
});

describe("a kernel of another version", { timeout: 60_000 }, () => {
  it("is not attached to: the client is told which versions they are, and nothing is left behind", async () => {
    const at = await createSharedHome();
    const kernel = await openKernel({ data: at.home, command: "serve" });
    const doors = await serve(kernel, {
      framed: { path: kernel.sockets.framed },
      services: [{ path: kernel.sockets.services }],
      authorize: kernel.authorizeToken,
      mcp: { version: "9.9.9" },
    });
    for (const more of [[], ["--http", "127.0.0.1:0"]]) {
      const { code, stdout, stderr } = await at.run(["mcp", "--workspace", at.workspace, ...more]);
      assert.equal(code, 5, stderr);
      assert.equal(stdout, "");
      assert.match(stderr, new RegExp(`\`serve\` \\(process ${process.pid}\\) .*narthex 9\\.9\\.9.*narthex 0\\.`));
    }
    assert.deepEqual(await kernel.listSessions({ all: false, limit: 10 }), []);
    await doors.close();
    await kernel.close();
    await until(async () => !(await exists(join(at.home, "run/holder.json"))));
    await at.remove();
  });
});
