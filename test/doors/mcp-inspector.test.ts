import assert from "node:assert/strict";
import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { objectOf, objectsOf, parseObject } from "../cli/home.ts";
import { inspect, type InspectedServer } from "./mcp/inspector.ts";
import { REVISIONS, type ServedMcp, serveMcp } from "./mcp/served-mcp.ts";
import { until } from "./mcp/shared-home.ts";

describe("the official Inspector, from its command line", { timeout: 240_000 }, () => {
  let served: ServedMcp;
  before(async () => {
    served = await serveMcp();
  });
  after(() => served.stop());

  function serverBy(way: "stdio" | "http"): InspectedServer {
    const { at, url, session } = served;
    if (way === "http") return { url: url.href, token: session.token };
    const env = { HOME: at.root, NARTHEX_DATA: at.home };
    return { command: process.execPath, args: [at.program, "mcp", "--workspace", at.workspace], env };
  }

  it("gets no access without a session's token", async () => {
    const { code, output } = await inspect({ url: served.url.href, token: "ntx_made-up" }, "--method", "tools/list");
    assert.notEqual(code, 0);
    assert.match(output, /401|TOKEN_INVALID|token/);
  });

  for (const way of ["stdio", "http"] as const) {
    it(`lists tools, calls one, and is denied a forbidden call, over ${way}`, async () => {
      const server = serverBy(way);
      const listed = await inspect(server, "--method", "tools/list");
      assert.equal(listed.code, 0, listed.output);
      const names = objectsOf(parseObject(listed.output)["tools"]).map(({ name }) => name);
      assert.ok(names.includes("file_write") && !names.includes("db_query"), names.join());

      const write = ["--method", "tools/call", "--tool-name", "file_write", "--tool-arg"];
      const path = `by-inspector-${way}`;
      const called = await inspect(server, ...write, `path=${path}`, "content=hello");
      assert.equal(called.code, 0, called.output);
      assert.notEqual(parseObject(called.output)["isError"], true, called.output);
      assert.equal(await readFile(join(served.at.workspace, path), "utf8"), "hello");

      const refused = await inspect(server, ...write, "path=never", "content=hello");
      const answer = parseObject(refused.output);
      assert.equal(answer["isError"], true, refused.output);
      const [text] = objectsOf(answer["content"]);
      assert.match(String(objectOf(text)["text"]), /^Denied by rule not-that-file/);
      await assert.rejects(access(join(served.at.workspace, "never")));
    });
  }
});

describe("clients of a served kernel over HTTP", { timeout: 120_000 }, () => {
  it("are notified in both revisions when the tools change, and only then", async () => {
    const served = await serveMcp();
    const told = new Map<string, number>(REVISIONS.map((revision) => [revision, 0]));
    const clients = await Promise.all(
      REVISIONS.map(async (revision) => {
        const onChanged = (): void => void told.set(revision, (told.get(revision) ?? 0) + 1);
        const listChanged = { tools: { autoRefresh: false, debounceMs: 0, onChanged } };
        const client = new Client(
          { name: "test", version: "1" },
          { listChanged, versionNegotiation: { mode: revision } },
        );
        const headers = { authorization: `Bearer ${served.session.token}` };
        await client.connect(new StreamableHTTPClientTransport(served.url, { requestInit: { headers } }));
        await client.listTools();
        return client;
      }),
    );
    const policy = join(served.at.home, "policy/default.cedar");
    const rules = await readFile(policy, "utf8");
    // The same tools by other words are no news.
    await writeFile(policy, `${rules}\n@id("twice") permit(principal, action == Action::"echo", resource);`);
    await served.at.ask(["policy", "reload"]);
    await writeFile(policy, `${rules}\n@id("more") permit(principal, action == Action::"file_list", resource);`);
    await served.at.ask(["policy", "reload"]);
    await until(() => [...told.values()].every((times) => times > 0));
    for (const client of clients) {
      const { tools } = await client.listTools();
      assert.ok(tools.some(({ name }) => name === "file_list"));
    }
    assert.deepEqual([...told.values()], [1, 1]);
    await Promise.all(clients.map((client) => client.close()));
    await served.stop();
  });
});
