import assert from "node:assert/strict";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Client, ElicitResult } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject } from "@narthex/contracts";
import { createTestHome, objectsOf } from "../cli/home.ts";
import {
  type ConnectOptions,
  connectStdio,
  fieldOf,
  NAMES,
  REVISIONS,
  type ServedMcp,
  serveMcp,
  textIn,
} from "./mcp/served-mcp.ts";
import { RUNS_ALL } from "../sampled.ts";

const ASKABLE = { capabilities: { elicitation: { form: {} } } };
const YES: ElicitResult = { action: "accept", content: { approve: true } };

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

describe("approvals in an MCP client that the configuration allows", { timeout: 300_000 }, () => {
  let served: ServedMcp;
  before(async () => {
    served = await serveMcp();
  });
  after(() => served.stop());

  /** A file that only a person's yes deletes. */
  async function makeFile(name: string): Promise<string> {
    const path = join(served.at.workspace, name);
    await writeFile(path, "here");
    return path;
  }

  const ways = [
    ["HTTP", (options: ConnectOptions) => served.connect(options)],
    ["standard input and output", (options: ConnectOptions) => connectStdio(served.at, options)],
  ] as const;
  for (const [way, connect] of ways) {
    for (const revision of REVISIONS) {
      // Each way and each revision once.
      if (!RUNS_ALL && (way === "HTTP") !== (revision === REVISIONS[0])) continue;
      describe(`over ${way}, in the ${NAMES[revision]} revision`, () => {
        let client: Client;
        let answer: ElicitResult;
        /** What the user was shown in this test. */
        let shown: string[] = [];
        before(async () => {
          client = await connect({ revision, client: ASKABLE });
          client.setRequestHandler("elicitation/create", ({ params }) => {
            shown.push(params.message);
            return answer;
          });
        });
        after(() => client.close());

        function callAs(user: ElicitResult, name: string, input: Record<string, string>) {
          answer = user;
          shown = [];
          return client.callTool({ name, arguments: input });
        }

        /** As a client's own answer, on record and where people look. */
        async function isDeclined(pending: string): Promise<void> {
          const [, id = ""] = /Approval: (apr_\w+)/.exec(pending) ?? assert.fail(pending);
          const { notes } = await served.at.ask(["approvals", "show", id]);
          assert.match(JSON.stringify(notes), /client \\"test\\" answered for itself \(decline\) at .*; no person did/);
          const { records } = await served.at.ask(["ledger", "list", "--limit", "3"]);
          const declined = objectsOf(records).find((record) => JSON.stringify(record).includes("approval_declined"));
          const { stdout } = await served.at.run(["ledger", "show", String(declined?.["index"])]);
          const told = stdout.replaceAll(/\s+/g, " ");
          assert.ok(told.includes(`ApprovalDeclined approval_id ${id} door mcp client test action decline`), told);
        }

        it("run once when the shown request is approved", async () => {
          const name = `yes\u202e-${revision}`;
          for (const _ of [1, 2]) {
            const path = await makeFile(name);
            const { isError, content } = await callAs(YES, "file_delete", { path: name });
            assert.notEqual(isError, true, JSON.stringify(content));
            assert.equal(await exists(path), false);
            assert.equal(shown.length, 1);
            assert.match(
              shown[0] ?? "",
              /^file_delete: "yes\[U\+202E\]-.*deleting needs a person.*"path": "yes\[U\+202E\]-/s,
            );
          }
        });

        it("are denied by a submitted denial", async () => {
          const path = await makeFile(`no-${revision}`);
          const no = { action: "accept", content: { approve: false } } as const;
          const { content } = await callAs(no, "file_delete", { path: `no-${revision}` });
          assert.match(textIn(content), /^Denied by rule ask-delete \(APPROVAL_DENIED\)/);
          assert.equal(await exists(path), true);
        });

        it("are sent to the client again when the same call comes back for a pending request", async () => {
          const path = await makeFile(`again-${revision}`);
          const first = await callAs({ action: "decline" }, "file_delete", { path: `again-${revision}` });
          assert.match(textIn(first.content), /^APPROVAL_PENDING/);
          assert.doesNotMatch(textIn(first.content), /said no|denied/i);
          await isDeclined(textIn(first.content));
          const again = await callAs(YES, "file_delete", { path: `again-${revision}` });
          assert.notEqual(again.isError, true, JSON.stringify(again.content));
          assert.equal(shown.length, 1);
          assert.equal(await exists(path), false);
        });

        it("that require the console are sent to no client", async () => {
          const source = `stays-${revision}`;
          const path = await makeFile(source);
          const { content } = await callAs(YES, "file_move", { source, destination: `gone-${revision}` });
          assert.match(textIn(content), /^APPROVAL_PENDING/);
          assert.deepEqual(shown, []);
          assert.equal(await exists(path), true);
        });
      });
    }
  }

  it("stay pending when the client declines or dismisses the form, and can be decided elsewhere", async () => {
    const client = await served.connect({ revision: "auto", client: ASKABLE });
    client.setRequestHandler("elicitation/create", () => ({ action: "decline" }));
    const path = await makeFile("later");
    const call = { name: "file_delete", arguments: { path: "later" } };
    const first = textIn((await client.callTool(call)).content);
    const [, id = ""] = /^APPROVAL_PENDING.*Approval: (apr_\w+)/s.exec(first) ?? assert.fail(first);
    await served.at.ask(["approvals", "approve", id]);
    const again = await client.callTool(call);
    assert.notEqual(again.isError, true, JSON.stringify(again.content));
    assert.equal(await exists(path), false);
    await served.at.ask(["ledger", "verify"]);
  });

  for (const [way, connect] of ways) {
    it(`are announced at once to a client that asked for progress, with how to decide, over ${way}`, async () => {
      const client = await connect({ revision: REVISIONS[0] });
      const name = `progress-${way.length}`;
      const path = await makeFile(name);
      const told = Promise.withResolvers<string>();
      const call = { name: "file_delete", arguments: { path: name } };
      const answering = client.callTool(call, { onprogress: ({ message = "" }) => told.resolve(message) });
      const message = await Promise.race([told.promise, answering.then(({ content }) => textIn(content))]);
      const [, id = ""] =
        /^waiting for a person: .*`narthex approvals approve (apr_\w+)`/.exec(message) ?? assert.fail(message);
      await served.at.ask(["approvals", "approve", id]);
      assert.notEqual((await answering).isError, true, JSON.stringify(await answering));
      assert.equal(await exists(path), false);
      await client.close();
    });
  }

  for (const revision of REVISIONS) {
    it(`are sent to no client without elicitation, in the ${NAMES[revision]} revision`, async () => {
      const client = await served.connect({ revision });
      const path = await makeFile(`unasked-${revision}`);
      const { content } = await client.callTool({ name: "file_delete", arguments: { path: `unasked-${revision}` } });
      assert.match(textIn(content), /^APPROVAL_PENDING/);
      assert.equal(await exists(path), true);
    });
  }

  it("reach a client of the previous revision on the call's stream, if it has no other", async () => {
    const path = await makeFile("lone");
    const post = (body: object, connection = ""): Promise<Response> =>
      fetch(served.url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${served.session.token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(connection === "" ? {} : { "mcp-session-id": connection }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", ...body }),
      });
    const clientInfo = { name: "test", version: "1" };
    const initialize = { protocolVersion: "2025-11-25", clientInfo, ...ASKABLE };
    const opened = await post({ id: 0, method: "initialize", params: initialize });
    await opened.text();
    const connection = opened.headers.get("mcp-session-id") ?? "";
    const call = { name: "file_delete", arguments: { path: "lone" } };
    const calling = await post({ id: 1, method: "tools/call", params: call }, connection);
    let read = "";
    for await (const chunk of calling.body ?? []) {
      read += Buffer.from(chunk).toString();
      const [, id] = /"method":"elicitation\/create".*"id":(\d+)/.exec(read) ?? [];
      if (id !== undefined && !read.includes('"id":1}')) await post({ id: Number(id), result: YES }, connection);
    }
    assert.match(read, /elicitation\/create/);
    assert.doesNotMatch(read, /"isError":true/);
    assert.equal(await exists(path), false);
  });

  it("reject a decision that is made up, changed, or meant for another call or session", async () => {
    const path = await makeFile("forged");
    const other = await makeFile("other");
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
    };
    async function call(name: string, more: object, token = served.session.token): Promise<JsonObject> {
      const params = { name: "file_delete", arguments: { path: name }, ...more, _meta: meta };
      const answer = await fetch(served.url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "file_delete",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      });
      return (await answer.json()) as JsonObject;
    }
    const asked = await call("forged", {});
    const requestState = String(fieldOf(asked["result"], "requestState"));
    const inputResponses = { approval: YES };
    const made = `v1.${Buffer.from(JSON.stringify({ p: { approvalId: "x" }, exp: 9e12 })).toString("base64url")}.AAAA`;
    for (const state of [made, `${requestState}A`, "nonsense"]) {
      assert.match(JSON.stringify(await call("forged", { requestState: state, inputResponses })), /requestState/);
    }
    const { token } = await served.at.openSession();
    assert.match(JSON.stringify(await call("forged", { requestState, inputResponses }, token)), /requestState/);
    assert.match(JSON.stringify(await call("other", { requestState, inputResponses })), /given to another call/);
    assert.deepEqual([await exists(path), await exists(other)], [true, true]);
    assert.doesNotMatch(JSON.stringify(await call("forged", { requestState, inputResponses })), /"isError":true/);
    assert.equal(await exists(path), false);
  });

  it("are recorded as decided at the door `mcp`, by the client's name", async () => {
    const { records } = await served.at.ask(["ledger", "list", "--limit", "1000"]);
    const answers = objectsOf(records)
      .flatMap(({ entries }) => objectsOf(entries))
      .map((entry) => entry["approval_resolved"])
      .filter((entry) => isJsonObject(entry ?? null))
      .map((entry) => JSON.stringify(entry));
    assert.ok(
      answers.some((entry) => /"approved".*"mcp".*"client test"/.test(entry)),
      answers.join("\n"),
    );
    assert.ok(
      answers.some((entry) => /"denied".*"mcp".*"client test"/.test(entry)),
      answers.join("\n"),
    );
  });
});

describe("approvals without a configuration for MCP clients", { timeout: 120_000 }, () => {
  it("are sent to no client, even one with elicitation", async () => {
    const at = await createTestHome();
    await at.ask(["init"]);
    await writeFile(join(at.home, "narthex.yaml"), "timeouts: { approval_wait_ms: 300 }\n", { mode: 0o600 });
    const client = await connectStdio(at, { revision: "auto", client: ASKABLE });
    client.setRequestHandler("elicitation/create", () => assert.fail("the client was asked"));
    const { content } = await client.callTool({ name: "shell_exec", arguments: { command: "id" } });
    assert.match(textIn(content), /^APPROVAL_PENDING/);
    await client.close();
    await at.remove();
  });
});
