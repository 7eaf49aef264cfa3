import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { createTestHome, objectsOf, type TestHome } from "../cli/home.ts";
import { createNetworkKernel, type NetworkKernel, startServer, type TestServer } from "./network-kernel.ts";

/** Asks whatever it is told to, by the proxy that it finds. */
const PROGRAM = `
import json, os, sys, urllib.error, urllib.request
given = json.load(sys.stdin)
os.environ.pop("no_proxy", None), os.environ.pop("NO_PROXY", None)
def ask(url, body):
    try:
        data = None if body is None else body.encode()
        with urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=20) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as fault:
        return f"{fault.code} {fault.read().decode()}"
    except Exception as fault:
        return f"failed: {fault}"
json.dump({"said": ask(given["url"], given.get("body"))}, sys.stdout)
`;
const MODULE = (place: string) => `
import { defineTool } from "narthex";
delete process.env.no_proxy; delete process.env.NO_PROXY;
const [host, port] = ${JSON.stringify(place)}.split(":");
export const asking = defineTool({
  name: "module_asks",
  description: "Asks its server.",
  inputSchema: { type: "object" },
  effects: ["net_read"],
  capabilities: [{ kind: "net_read", hosts: [{ host, ports: [Number(port)] }] }],
  determinism: "external",
  tier: "side_effecting",
  async run() {
    const { request } = await import("node:http");
    const proxy = new URL(process.env.http_proxy ?? "");
    const auth = "Basic " + Buffer.from(proxy.username + ":" + proxy.password).toString("base64");
    const options = { host: proxy.hostname, port: proxy.port, path: "http://" + host + ":" + port + "/m", headers: { "proxy-authorization": auth } };
    return await new Promise((resolve) => {
      request(options, async (answer) => resolve({ said: Buffer.concat(await answer.toArray()).toString() })).end();
    });
  },
});
`;

describe("programs that were added as tools", { timeout: 180_000 }, () => {
  let home: TestHome;
  let at: NetworkKernel;
  let server: TestServer;
  let other: TestServer;
  let shown: JsonObject;
  const used = new AsyncDisposableStack();

  async function add(
    name: string,
    effects: string[],
    capabilities: JsonObject[] | undefined,
    exit = 0,
  ): Promise<JsonObject> {
    const folder = join(home.root, "tools", name);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "ask.py"), PROGRAM);
    const manifest = {
      name,
      version: "1.0.0",
      description: "Asks a server.",
      command: ["python3", "./ask.py"],
      input_schema: { type: "object" },
      effects,
      ...(capabilities !== undefined && { capabilities }),
      determinism: effects.length === 0 ? "nondeterministic" : "external",
      tier: "side_effecting",
      bounds: { timeout_ms: 60_000, max_network_bytes: 100_000 },
    };
    await writeFile(join(folder, "tool.json"), JSON.stringify(manifest));
    return await home.ask(["tools", "add", join(folder, "tool.json"), "--allow"], exit);
  }

  before(async () => {
    const answering = (name: string) =>
      startServer((request, response) => void response.end(`${name} ${request.method}`));
    server = used.use(await answering("first"));
    other = used.use(await answering("second"));
    home = await createTestHome();
    used.defer(() => home.remove());
    await mkdir(home.home, { mode: 0o700 });
    const hosts = [{ host: "127.0.0.1", ports: [server.port] }];
    shown = await add("reader", ["net_read"], [{ kind: "net_read", hosts }]);
    await add("sender", ["net_write"], [{ kind: "net_write", hosts }]);
    await add("nobody", [], undefined);
    const module = join(home.root, "asks.ts");
    await writeFile(module, MODULE(server.place));
    await chmod(module, 0o644);
    await home.ask(["tools", "add", module, "--allow"]);
    at = used.use(await createNetworkKernel({ data: home.home }));
  });
  after(() => used.disposeAsync());

  it("declare their hosts in the manifest, which is shown before they are added", async () => {
    const [tool] = objectsOf(shown["tools"]);
    assert.deepEqual([tool?.["effects"], tool?.["hosts"]], [["net_read"], [`127.0.0.1:${server.port}`]]);
    for (const [capabilities, problem] of [
      [undefined, /net_read/],
      [[{ kind: "net_read", hosts: [] }], /must name the hosts/],
      [[{ kind: "net_read", hosts: [{ host: "0x7f.1" }] }], /host/],
    ] as const) {
      const refused = await add("bad", ["net_read"], capabilities as JsonObject[] | undefined, 1);
      assert.match(JSON.stringify(refused), problem);
    }
  });

  it("reach their hosts through the gate, and their output is untrusted and in the ledger", async () => {
    const session = await at.open({ reads: [server.place], sends: [server.place] });
    const read = await session.session.call("reader", { url: `http://${server.place}/` });
    assert.deepEqual([read.raw, read.metadata.labels], [{ said: "first GET" }, ["untrusted"]]);
    const sent = await session.session.call("sender", { url: `http://${server.place}/`, body: "x" });
    assert.deepEqual(sent.raw, { said: "first POST" });
    assert.deepEqual((await session.session.call("module_asks", {})).raw, { said: "first GET" });
    assert.deepEqual(await session.egress(), [
      `GET ${server.place} loopback 200`,
      `POST ${server.place} loopback 200`,
      `GET ${server.place} loopback 200`,
    ]);
  });

  it("reach no undeclared host, send nothing undeclared, and send nothing without a capability", async () => {
    const places = [server.place, other.place];
    const session = await at.open({ reads: places, sends: places });
    for (const [tool, input] of [
      ["sender", { url: `http://${other.place}/` }],
      ["reader", { url: `http://${server.place}/`, body: "x" }],
    ] as const) {
      const { code, message } = await session.refused(tool, input);
      assert.equal(code, "UNDECLARED_EFFECT", message);
    }
    const { raw } = await session.session.call("nobody", { url: `http://${server.place}/` });
    assert.match(JSON.stringify(raw), /failed: .*refused/);
    assert.equal(other.requests.length, 0);
    const poor = await at.open({ reads: [other.place] });
    assert.equal((await poor.refused("reader", { url: `http://${server.place}/` })).code, "CAPABILITY_MISSING");
  });
});
