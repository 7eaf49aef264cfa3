import assert from "node:assert/strict";
import { access, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { Client, type ElicitResult, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JsonObject } from "@narthex/contracts";
import { kernelsOf } from "../../scripts/build/on-demand-kernels.ts";
import { ended, objectsOf, type Running, type TestHome, textOf } from "../cli/home.ts";
import { processesWith, textIn } from "./mcp/served-mcp.ts";
import {
  type ClientProcess,
  createSharedHome,
  holderOf,
  RULES,
  sessionsOf,
  startClient,
  startHttpClient,
  until,
} from "./mcp/shared-home.ts";

const ASKABLE = { capabilities: { elicitation: { form: {} } } };
const YES: ElicitResult = { action: "accept", content: { approve: true } };

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe("three MCP clients on one home", { timeout: 300_000 }, () => {
  let at: TestHome;
  let first: ClientProcess;
  let second: ClientProcess;
  let third: Awaited<ReturnType<typeof startHttpClient>>;
  let sessions: Record<string, string>;
  /** What the second one's user is asked, and says when they please. */
  const asked = Promise.withResolvers<string>();
  const said = Promise.withResolvers<ElicitResult>();
  before(async () => {
    at = await createSharedHome();
  });
  after(async () => {
    for (const { client, pid } of [first, second, third]) {
      await client.close();
      if (pid !== third.pid) continue;
      third.child.kill("SIGTERM");
      assert.equal(await ended(third.child), 0);
    }
    await at.remove();
  });

  const inWorkspace = (name: string): string => join(at.workspace, name);
  const echo = async ({ client, agent }: ClientProcess): Promise<void> => {
    const { content } = await client.callTool({ name: "echo", arguments: { agent } });
    assert.equal(textIn(content), `{"agent":"${agent}"}`);
  };

  it("start at once and share one kernel, which has its own process, session and group", async () => {
    [first, second, third] = await Promise.all([
      startClient(at, { agent: "first", revision: "legacy" }),
      startClient(at, { agent: "second", revision: "auto", options: ASKABLE }),
      startHttpClient(at, { agent: "third", revision: "legacy" }),
    ]);
    await Promise.all([first, second, third].map(echo));
    const kernel = await holderOf(at);
    await until(async () => (await kernelsOf(at.home)).length === 1);
    assert.deepEqual(await kernelsOf(at.home), [kernel]);
    const [group, session] = await groupAndSessionOf(kernel);
    assert.deepEqual([group, session], [kernel, kernel]);
    sessions = await sessionsOf(at);
    assert.deepEqual(Object.keys(sessions).sort(), ["first", "second", "third"]);
  });

  it("accept only that session's own token over HTTP, and serve nothing else there", async () => {
    for (const token of [(await at.openSession()).token, "ntx_made-up", ""]) {
      const client = new Client({ name: "stranger", version: "1" });
      const headers = { authorization: `Bearer ${token}` };
      const transport = new StreamableHTTPClientTransport(new URL(third.url), { requestInit: { headers } });
      await assert.rejects(client.connect(transport), /401|Unauthorized|token/i);
    }
    for (const path of ["/console", "/narthex.v1.AdminService/ListSessions"]) {
      const { status } = await fetch(new URL(path, third.url), { method: "POST", body: "{}" });
      assert.equal(status, 404);
    }
    const page = await fetch(third.url, { method: "POST", headers: { origin: "http://evil.example" }, body: "{}" });
    assert.equal(page.status, 403);
  });

  it("are notified when a new policy changes the tools, wherever the kernel runs", async () => {
    const all = [first, second, third];
    for (const { client } of all) {
      const { tools } = await client.listTools();
      assert.ok(tools.some(({ name }) => name === "shell_exec"));
    }
    const policy = join(at.home, "policy/default.cedar");
    await writeFile(policy, RULES.replace('"shell_exec"', '"file_list"'));
    await at.ask(["policy", "reload"]);
    await until(() => all.every((client) => client.toolsChanged() === 1));
    for (const { client } of all) {
      const { tools } = await client.listTools();
      assert.ok(!tools.some(({ name }) => name === "shell_exec") && tools.some(({ name }) => name === "file_list"));
    }
    await writeFile(policy, RULES);
    await at.ask(["policy", "reload"]);
    await until(() => all.every((client) => client.toolsChanged() === 2));
  });

  it("are notified when their lease is revoked, and get no tool from then on", async (t) => {
    const revoked = await startClient(at, { agent: "revoked", revision: "auto" });
    t.after(() => revoked.client.close());
    const toolCount = async (): Promise<number> => (await revoked.client.listTools()).tools.length;
    assert.notEqual(await toolCount(), 0);
    const told = [first, second, third].map((client) => client.toolsChanged());
    const { session_id: id, lease_id: lease } =
      objectsOf((await at.ask(["session", "list"]))["sessions"]).find(({ agent }) => agent === "revoked") ?? {};
    assert.ok(typeof id === "string" && typeof lease === "string");
    await at.ask(["lease", "revoke", lease]);
    await until(() => revoked.toolsChanged() === 1);
    assert.equal(await toolCount(), 0);
    assert.deepEqual(
      [first, second, third].map((client) => client.toolsChanged()),
      told,
    );
  });

  it("continue when the kernel is killed: another is started, and nothing runs twice", async () => {
    const long = "x".repeat(40_000);
    await second.client.callTool({ name: "file_write", arguments: { path: "kept", content: long } });
    await second.client.callTool({ name: "file_read", arguments: { path: "kept" } });
    const [resource] = (await second.client.listResources()).resources;
    await Promise.all(["asked", "approved"].map((name) => writeFile(inWorkspace(name), "here")));

    // In flight: a command that is killed with the kernel, a form that lies open, and a question to the console.
    second.client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.resolve(params.message);
      return said.promise;
    });
    const command = "test -e run-again || { echo run >> runs; sleep 86397.5; }";
    const running = second.client.callTool({ name: "shell_exec", arguments: { command, timeout_ms: 200_000 } });
    const form = second.client.callTool({ name: "file_delete", arguments: { path: "asked" } });
    const question = third.client.callTool({ name: "file_delete", arguments: { path: "approved" } });
    await asked.promise;
    await until(() => exists(inWorkspace("runs")));
    const thirds = async (): Promise<string | undefined> => {
      const { approvals } = await at.ask(["approvals", "list"]);
      const open = objectsOf(approvals).find((approval) => approval["session_id"] === sessions["third"]);
      return open && textOf(open["approval_id"]);
    };
    await until(async () => (await thirds()) !== undefined);

    const holder = await holderOf(at);
    process.kill(holder, "SIGKILL");
    const killed = await running;
    assert.equal(killed.isError, true);
    assert.match(textIn(killed.content), /^KILLED: /);
    assert.match(textIn(killed.content), /Its effects may have happened\./);
    assert.equal(await readFile(inWorkspace("runs"), "utf8"), "run\n");
    assert.notEqual(await holderOf(at), holder);

    said.resolve(YES);
    assert.notEqual((await form).isError, true, JSON.stringify(await form));
    assert.equal(await exists(inWorkspace("asked")), false);
    await at.ask(["approvals", "approve", (await thirds()) ?? assert.fail("the question is gone")]);
    assert.notEqual((await question).isError, true, JSON.stringify(await question));
    assert.equal(await exists(inWorkspace("approved")), false);

    // The same connections, the same sessions, what they had.
    await Promise.all([first, second, third].map(echo));
    const { second: theirs, third: others } = await sessionsOf(at);
    assert.deepEqual([theirs, others], [sessions["second"], sessions["third"]]);
    sessions = await sessionsOf(at);
    const { contents } = await second.client.readResource({ uri: resource?.uri ?? "" });
    assert.match(JSON.stringify(contents), /x{40000}/);
    // What was killed is not run again by itself; an equal call is.
    assert.equal(await readFile(inWorkspace("runs"), "utf8"), "run\n");
    await writeFile(inWorkspace("run-again"), "");
    const again = await second.client.callTool({ name: "shell_exec", arguments: { command, timeout_ms: 200_000 } });
    assert.equal(textIn(again.content), "exit code 0, no output");
  });

  it("continue when the kernel is stopped, with a call running meanwhile", async () => {
    const kernel = await holderOf(at);
    const command = "echo begun > begun; sleep 1; echo over";
    const running = second.client.callTool({ name: "shell_exec", arguments: { command } });
    await until(() => exists(inWorkspace("begun")));
    const [{ content, isError }] = await Promise.all([running, at.ask(["stop"]), echo(third)]);
    assert.notEqual(isError, true, textIn(content));
    assert.match(textIn(content), /over/);
    await echo(second);
    assert.notEqual(await holderOf(at), kernel);
    assert.deepEqual(await sessionsOf(at), sessions);
  });

  it("do no harm when they leave, are killed with their group or stop reading: other clients' commands continue", async () => {
    const kernel = await holderOf(at);
    const start = (agent: string) => startDoomedClient(at, agent);
    const command = "echo begun > others; while [ -e others ]; do sleep 0.05; done; echo over";
    const running = second.client.callTool({ name: "shell_exec", arguments: { command, timeout_ms: 200_000 } });
    await until(() => exists(inWorkspace("others")));
    const ways: Record<string, (doomed: DoomedClient) => void> = {
      leaving: ({ child }) => child.stdin.end(),
      killed: ({ child }) => child.kill("SIGKILL"),
      group: ({ child }) => process.kill(-(child.pid ?? assert.fail()), "SIGKILL"),
      terminated: ({ child }) => child.kill("SIGTERM"),
      // Its next notification has no reader.
      unread: ({ child }) => child.stdout.destroy(),
      hungUp: ({ child }) => {
        child.stdin.destroy();
        child.stdout.destroy();
        child.stderr.destroy();
      },
    };
    const doomed = await Promise.all(Object.keys(ways).map(start));
    const before = await sessionsOf(at);
    for (const each of doomed) ways[each.agent]?.(each);
    await Promise.all(doomed.map(({ child }) => ended(child)));
    // The calls are cancelled, and said to be; so are the sessions closed.
    await until(async () => Object.keys(await sessionsOf(at)).length === Object.keys(sessions).length);
    for (const { agent } of doomed) {
      const { stdout } = await at.run(["ledger", "list", "--session", before[agent] ?? assert.fail(agent)]);
      assert.match(stdout, /CANCELLED[^]*session closed/, agent);
      await until(async () => (await processesWith(`9000.${agent.length}`)).length === 0);
    }
    const { intents } = await at.ask(["journal"]);
    const unknown = objectsOf(intents).filter(({ session_id: id }) => !Object.values(sessions).includes(textOf(id)));
    assert.deepEqual(unknown, []);
    await rm(inWorkspace("others"));
    const { content, isError } = await running;
    assert.notEqual(isError, true, textIn(content));
    assert.match(textIn(content), /over/);
    assert.equal(await holderOf(at), kernel);
    const report = await at.ask(["ledger", "verify"]);
    assert.equal(report["intact"], true);
  });
});

interface DoomedClient {
  readonly agent: string;
  readonly child: Running;
}

/** A client in a group of its own, whose command prints all the time and is asked to tell of it. */
async function startDoomedClient(at: TestHome, agent: string): Promise<DoomedClient> {
  const child = at.start(["mcp", "--workspace", at.workspace, "--agent", agent], { ownGroup: true });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => String((await lines.next()).value);
  child.stderr.resume();
  const send = (message: JsonObject): boolean =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: agent, version: "1" };
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  await nextLine();
  send({ method: "notifications/initialized" });
  const command = `(while :; do echo tick; sleep 0.1; done) & sleep 9000.${agent.length}`;
  const input = { name: "shell_exec", arguments: { command, timeout_ms: 200_000 }, _meta: { progressToken: 1 } };
  send({ id: 2, method: "tools/call", params: input });
  assert.match(await nextLine(), /notifications\/progress/);
  return { agent, child };
}

async function groupAndSessionOf(pid: number): Promise<[number, number]> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8");
  const [, , group, session] = status.slice(status.lastIndexOf(")") + 2).split(" ");
  return [Number(group), Number(session)];
}
