import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTestHome, ended, parseObject, readLines, textOf } from "../cli/home.ts";
import { cancelSleeping, connectStdio, NAMES, REVISIONS, type ServedMcp, serveMcp, textIn } from "./mcp/served-mcp.ts";

describe("`narthex mcp` beside a kernel that holds the home", { timeout: 240_000 }, () => {
  let served: ServedMcp;
  before(async () => {
    served = await serveMcp();
  });
  after(() => served.stop());

  for (const revision of REVISIONS) {
    it(`streams output, kills cancelled calls and pages results, in the ${NAMES[revision]} revision`, async () => {
      const client = await connectStdio(served.at, { revision });
      const seconds = revision === "auto" ? "86398.25" : "86398.75";
      assert.deepEqual(await cancelSleeping(client, seconds), ["begun\n"]);
      await client.callTool({ name: "file_write", arguments: { path: "page", content: "x".repeat(40_000) } });
      const { content } = await client.callTool({ name: "file_read", arguments: { path: "page" } });
      assert.match(JSON.stringify(content), /resource_link/);
      const [resource] = (await client.listResources()).resources;
      const { contents } = await client.readResource({ uri: resource?.uri ?? "" });
      assert.equal(JSON.stringify(contents).match(/x{40000}/)?.length, 1);
      const denied = await client.callTool({ name: "hash", arguments: { data: "x" } });
      assert.match(textIn(denied.content), /Rule small-hashes would allow it/);
      await client.close();
    });
  }
});

describe("`narthex mcp --http`", { timeout: 120_000 }, () => {
  it("serves its own session's tools at an address, until it is stopped", async () => {
    const at = await createTestHome();
    const child = at.start(["mcp", "--workspace", at.workspace, "--http", "127.0.0.1:0", "--json"]);
    const ready = parseObject(await readLines(child)());
    const headers = { authorization: `Bearer ${textOf(ready["token"])}` };
    for (const revision of REVISIONS) {
      const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: revision } });
      await client.connect(
        new StreamableHTTPClientTransport(new URL(textOf(ready["url"])), { requestInit: { headers } }),
      );
      const { content } = await client.callTool({ name: "echo", arguments: { over: "http" } });
      assert.equal(textIn(content), `{"over":"http"}`);
      await client.close();
    }
    child.kill("SIGTERM");
    assert.equal(await ended(child), 0);
    await at.remove();
  });
});
