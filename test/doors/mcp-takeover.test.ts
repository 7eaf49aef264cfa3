import assert from "node:assert/strict";
import { access, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { isKernelError, type JsonObject, type ToolResponse } from "@narthex/contracts";
import type { Logger, Observer } from "@narthex/kernel";
import type { McpCaller } from "@narthex/server";
import { attachKernel } from "../../packages/narthex/src/connection/attach-kernel.ts";
import { createReconnectingCaller } from "../../packages/narthex/src/connection/reconnecting-caller.ts";
import {
  type ReconnectingLink,
  openReconnectingLink,
} from "../../packages/narthex/src/connection/reconnecting-link.ts";
import type { LinkTimeouts } from "../../packages/narthex/src/connection/link-timeouts.ts";
import { createSingleSessionSource } from "../../packages/narthex/src/connection/single-session-source.ts";
import { type OpenedKernel, openKernel } from "../../packages/narthex/src/open-kernel.ts";
import { VERSION } from "../../packages/narthex/src/version.ts";
import { WIRE_PROTOCOL } from "../../packages/narthex/src/wire-protocol.ts";
import { kernelsOf } from "../../scripts/build/on-demand-kernels.ts";
import { ended, parseObject, type Serving, type TestHome } from "../cli/home.ts";
import { createSharedHome, holderOf, sessionsOf, startClient, until } from "./mcp/shared-home.ts";

interface LinkChoices {
  readonly log?: Logger;
  readonly signal?: AbortSignal;
}

/** A client of a home's kernels that is this very process. */
async function openLink(at: TestHome, agent: string, times: Partial<LinkTimeouts> = {}, choices: LinkChoices = {}) {
  const link = await openReconnectingLink({
    home: at.home,
    environment: { HOME: at.root, PATH: process.env["PATH"] ?? "" },
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
    allowOwnCode: false,
    program: at.program,
    renew: true,
    log: () => undefined,
    signal: new AbortController().signal,
    times,
    ...choices,
  });
  return { link, caller: createReconnectingCaller(link) };
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
  let other: Awaited<ReturnType<typeof startClient>>;
  let kernel: number;
  before(async () => {
    at = await createSharedHome();
    other = await startClient(at, { agent: "other", revision: "legacy" });
    kernel = await holderOf(at);
  });
  after(async () => {
    await other.client.close();
    await at.remove();
  });

  it("is reported to waiting clients, and its pending call runs once when it continues", async () => {
    // Nobody else can be the kernel meanwhile, so that nobody else is waited for.
    const times = { askMs: 20, silenceMs: 1000, greetingMs: 1000, waitMs: 600_000 };
    const { link, caller } = await openLink(at, "waiting", times);
    const source = createSingleSessionSource(link, caller);
    const { token, sessionId } = link.latest().session;
    assert.equal(codeOf(await call(caller, "echo", {})), "");
    const input = { command: "echo run >> hung" };
    process.kill(kernel, "SIGSTOP");
    const isOpen = source.requireOpen(token);
    // Who calls over HTTP is known without the kernel; that it hangs does not end the session.
    const [fault, asked] = await Promise.all([
      call(caller, "shell_exec", input, "hung").catch((error: unknown) => error),
      isOpen.catch((error: unknown) => error),
      source.authenticate(token).then((id) => assert.equal(id, sessionId)),
    ]);
    process.kill(kernel, "SIGCONT");
    assert.ok(isKernelError(asked) && asked.code === "KERNEL_UNREACHABLE", String(asked));
    assert.ok(isKernelError(fault) && fault.code === "KERNEL_UNREACHABLE", String(fault));
    assert.match(fault.message, new RegExp(`process ${kernel}.* does not answer.*may have been carried out`));
    assert.equal(codeOf(await call(caller, "shell_exec", input, "hung")), "");
    assert.equal(await readFile(join(at.workspace, "hung"), "utf8"), "run\n");
    await link.close();
  });

  it("does not leave a cancelled call to be run by its successor", async () => {
    const { link, caller } = await openLink(at, "cancelling");
    await call(caller, "echo", {});
    const { sessionId } = link.latest().session;
    process.kill(kernel, "SIGSTOP");
    const cancelled = call(caller, "shell_exec", { command: "echo run >> cancelled" }, "cancelled");
    const kept = call(caller, "shell_exec", { command: "echo run >> kept" }, "kept");
    caller.cancel("cancelled");
    process.kill(kernel, "SIGKILL");
    await assert.rejects(cancelled, (fault) => isKernelError(fault) && fault.code === "CANCELLED");
    assert.equal(codeOf(await kept), "");
    assert.equal(await exists(join(at.workspace, "cancelled")), false);
    assert.equal(await readFile(join(at.workspace, "kept"), "utf8"), "run\n");
    assert.notEqual(await holderOf(at), kernel);
    assert.equal(link.latest().session.sessionId, sessionId);
    await link.close();
  });
});

describe("a served kernel", { timeout: 120_000 }, () => {
  let at: TestHome;
  let serving: Serving;
  let link: ReconnectingLink;
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

  it("is given time to come back, and the session continues there", async () => {
    const { sessionId } = link.latest().session;
    await restart();
    assert.equal(codeOf(await call(caller, "echo", {})), "");
    assert.equal(await holderOf(at), serving.child.pid);
    assert.equal(link.latest().session.sessionId, sessionId);
    assert.equal(caller.takeNotice?.(), undefined);
  });

  it("with another store provides a new session, and the client is told once", async () => {
    const { sessionId } = link.latest().session;
    await restart(async () => {
      for (const part of ["store", "content"]) await rm(join(at.home, part), { recursive: true });
    });
    assert.equal(codeOf(await call(caller, "echo", {})), "");
    const now = link.latest().session.sessionId;
    assert.notEqual(now, sessionId);
    assert.match(caller.takeNotice?.() ?? "", new RegExp(`new session, ${now}.*${sessionId}`));
    assert.equal(caller.takeNotice?.(), undefined);
  });

  it("provides no replacement for a closed session", async () => {
    const { sessionId } = link.latest().session;
    await at.ask(["session", "close", sessionId]);
    await restart();
    assert.equal(codeOf(await call(caller, "echo", {})), "SESSION_CLOSED");
    assert.equal(link.latest().session.sessionId, sessionId);
    assert.deepEqual(await sessionsOf(at), {});
  });

  it("leaves the home to a kernel that a client starts, which also reports the session as closed", async () => {
    const other = await openLink(at, "late", { returnMs: 0 });
    await at.ask(["session", "close", other.link.latest().session.sessionId]);
    await link.close();
    assert.equal(await serving.stop(), 0);
    assert.equal(codeOf(await call(other.caller, "echo", {})), "SESSION_CLOSED");
    assert.deepEqual(await kernelsOf(at.home), [await holderOf(at)]);
    // It makes room for `serve`.
    serving = await at.serve();
    await until(async () => (await kernelsOf(at.home)).length === 0);
    assert.equal(await holderOf(at), serving.child.pid);
    await other.link.close();
  });
});

describe("a kernel with a failing store", { timeout: 60_000 }, () => {
  const FAIL = "CREATE TRIGGER fails BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'the disk fails'); END";

  it("gets no connection while it keeps the home", async () => {
    const at = await createSharedHome();
    const kernel = await openKernel({ data: at.home, command: "test" });
    await kernel.openDoors();
    const store = new DatabaseSync(join(at.home, "store/records.db"));
    store.exec(FAIL);
    await assert.rejects(kernel.openSession({ workspace: at.workspace }), { code: "STORE_UNAVAILABLE" });
    const text = new RegExp(`process ${process.pid}\\) holds the home and takes no calls`);
    await assert.rejects(attachKernel(at.home, { responseTimeoutMs: 60_000, path: "", acceptsOlder: false }), {
      code: "KERNEL_UNREACHABLE",
      message: text,
    });
    store.close();
    await kernel.close();
    await at.remove();
  });

  it("releases the home, gets no more connections, and its clients continue once the disk works", async () => {
    const at = await createSharedHome();
    const lines: string[] = [];
    const log: Logger = (_, message) => void lines.push(message);
    const clients = [await openLink(at, "holder", {}, { log }), await openLink(at, "guest", {}, { log })];
    for (const { caller } of clients) assert.equal(codeOf(await call(caller, "echo", {})), "");
    const store = new DatabaseSync(join(at.home, "store/records.db"));
    store.exec(FAIL);
    const answers = clients.map(({ caller }, i) => call(caller, "echo", {}, `failing ${i}`));
    // Somebody tried to be the kernel, and could not.
    await until(() => lines.filter((line) => line === "no kernel can be reached").length > 1);
    store.exec("DROP TRIGGER fails");
    store.close();
    for (const answer of answers) assert.equal(codeOf(await answer), "");
    assert.equal(lines.filter((line) => line === "the session goes on").length, 2);
    await clients[0]?.link.close();
    assert.equal(codeOf(await call(clients[1]?.caller ?? assert.fail(), "echo", {})), "");
    await clients[1]?.link.close();
    await at.remove();
  });
});

describe("a kernel that shuts down in order", { timeout: 60_000 }, () => {
  let at: TestHome;
  let kernel: OpenedKernel;
  let guest: Awaited<ReturnType<typeof openLink>>;
  const traces: (string | undefined)[] = [];
  const never = new AbortController().signal;
  before(async () => {
    at = await createSharedHome();
    const observer: Observer = { stage: ({ traceParent }) => void traces.push(traceParent) };
    kernel = await openKernel({ data: at.home, command: "test", observer });
    await kernel.openDoors();
    guest = await openLink(at, "guest");
  });
  after(async () => {
    await kernel.close();
    await at.remove();
  });

  it("received the trace context of another process's call", async () => {
    const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const answer = await guest.caller.call({ requestId: "traced", name: "echo", input: {} }, { traceParent });
    assert.equal(codeOf(answer), "");
    assert.ok(traces.includes(traceParent));
  });

  it("does not make a client wait that shuts down at the same time", async () => {
    const leaving = new AbortController();
    const { link, caller } = await openLink(at, "leaving", { wordMs: 1 }, { signal: leaving.signal });
    leaving.abort();
    await link.latest().waitUntilLost();
    await assert.rejects(call(caller, "echo", {}), /shutting down/);
    await link.close();
  });

  it("leaves pending approvals that waiting clients find at the next kernel", async () => {
    await writeFile(join(at.workspace, "asked"), "here");
    let looks = 0;
    let hasLeft = false;
    const answer = call(guest.caller, "file_delete", { path: "asked" }, "asked");
    await until(() => kernel.listApprovals().open.length === 1);
    const looking = guest.caller.approvals.find(({ requestId }) => {
      looks++;
      return hasLeft && requestId === "asked";
    }, never);
    await until(() => looks > 0);
    hasLeft = true;
    await kernel.close({ graceMs: 0 });
    const question = (await looking) ?? assert.fail("the question is gone");
    assert.notEqual(await holderOf(at), process.pid);
    await guest.caller.approvals.decide({ approvalId: question.approvalId, answer: "once", approver: "somebody" });
    assert.equal(codeOf(await answer), "");
    assert.equal(await exists(join(at.workspace, "asked")), false);
  });

  it("does not make its successor accept decisions that only the old configuration allowed", async () => {
    const other = await openLink(at, "other");
    await writeFile(join(at.home, "narthex.yaml"), "mcp: { elicitation: never }\n", { mode: 0o600 });
    const looking = other.caller.approvals.find(() => false, never);
    const said = { approvalId: "apr_made_up", answer: "once", approver: "somebody" } as const;
    const isRefused = (code: string) => (fault: unknown) => isKernelError(fault) && fault.code === code;
    await assert.rejects(other.caller.approvals.decide(said), isRefused("APPROVAL_NOT_FOUND"));
    await at.ask(["stop"]);
    assert.equal(await looking, undefined);
    await assert.rejects(other.caller.approvals.decide(said), isRefused("APPROVAL_UNAVAILABLE"));
    await other.link.close();
    await guest.link.close();
  });
});

describe("a kernel of another version", { timeout: 60_000 }, () => {
  let at: TestHome;
  let kernel: OpenedKernel;
  before(async () => {
    at = await createSharedHome();
    kernel = await openKernel({ data: at.home, command: "serve" });
    await kernel.openDoors();
  });
  after(async () => {
    await kernel.close();
    await at.remove();
  });

  /** Says of the kernel, where clients look, that it is another one. */
  async function pretend(facts: JsonObject): Promise<void> {
    const said = parseObject(await readFile(kernel.home.paths.holder, "utf8"));
    assert.ok(typeof said["version"] === "string" && typeof said["protocol"] === "number");
    await writeFile(kernel.home.paths.holder, JSON.stringify({ ...said, ...facts }));
  }

  it("is rejected if it speaks another protocol: the client is told the versions, and no process is left", async () => {
    await pretend({ version: VERSION, protocol: 99 });
    const records = kernel.recordCount();
    for (const more of [[], ["--http", "127.0.0.1:0"]]) {
      const { code, stdout, stderr } = await at.run(["mcp", "--workspace", at.workspace, ...more]);
      assert.equal(code, 5, stderr);
      assert.equal(stdout, "");
      assert.match(stderr, new RegExp(`\`serve\` \\(process ${process.pid}\\) .*narthex ${VERSION}.*does not speak`));
      assert.match(stderr, /next: .*newer version/);
    }
    // Not even that they came and went.
    assert.equal(kernel.recordCount(), records);
  });

  it("is used if it speaks the same protocol, whether older or newer", async () => {
    for (const version of ["0.0.1", "999.0.0"]) {
      await pretend({ version, protocol: WIRE_PROTOCOL });
      const { link, caller } = await openLink(at, "guest");
      assert.equal(codeOf(await call(caller, "echo", {})), "");
      await link.close();
    }
  });
});
