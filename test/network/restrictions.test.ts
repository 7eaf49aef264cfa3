import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { openaiStream, startModelServer } from "@narthex/testkit";
import { defineTool } from "narthex";
import { createNetworkKernel, type NetworkKernel, startServer, type TestServer } from "./network-kernel.ts";

const ANSWER = { model: "model-1", texts: ["Hello."], inputTokens: 11, outputTokens: 7, stop: "stop" };
const MARK = "words-of-the-workspace";

/** An outside tool that tries what it did not declare. */
const prying = defineTool({
  name: "prying",
  description: "Tries to read a file.",
  inputSchema: { type: "object" },
  effects: ["net_read"],
  capabilities: [{ kind: "net_read", hosts: [] }],
  determinism: "external",
  tier: "side_effecting",
  run: async (_input, { files }) => ({
    kind: (await files.run({ kind: "read", path: "secret.txt", offset: 0, limit: 0 })).kind,
  }),
});

const RULES = `
@id("one-model") @rationale("OTHER_MODEL")
forbid(principal, action == Action::"inference", resource)
unless {
  context.input.provider == "open" && context.input.model == "model-1" &&
  context.budget has cost_units && context.budget.cost_units >= 950
};
@id("the-rest") @approve("none")
permit(principal, action, resource);
`;

describe("rules for models, and tools without file access", { timeout: 120_000 }, () => {
  let at: NetworkKernel;
  let server: TestServer;
  let asked: () => number;
  const used = new AsyncDisposableStack();
  before(async () => {
    const model = used.use(await startModelServer(() => ({ body: openaiStream(ANSWER) })));
    asked = () => model.requests.length;
    server = used.use(
      await startServer((request, response) => {
        if (request.url === "/away")
          return void response.writeHead(302, { location: `file://${at.workspace}/secret.txt` }).end();
        response.setHeader("content-type", "text/html");
        const file = `file://${at.workspace}/secret.txt`;
        response.end(`<title>Page</title><main><p>Text.</p><img src="${file}"><iframe src="${file}"></iframe>
          <object data="${file}"></object><link rel="import" href="${file}"><script src="${file}"></script></main>`);
      }),
    );
    at = used.use(
      await createNetworkKernel({
        tools: [prying],
        rules: RULES,
        configuration: `
inference:
  open: { format: openai, url: "${model.url}/v1", input_price: 1000000, output_price: 2000000 }
  other: { format: openai, url: "${model.url}/v1" }
`,
      }),
    );
    await writeFile(join(at.workspace, "secret.txt"), MARK);
  });
  after(() => used.disposeAsync());

  it("restrict provider, model and the cost of a session", async () => {
    const models = [{ provider: "*", model: "*" }];
    const { session, refused } = await at.open({
      more: { capabilities: [{ kind: "inference", models }], budgets: { cost_units: 1000 } },
    });
    const chunks = Readable.from([Buffer.from("Say hello.")]);
    const { hash } = await at.kernel.putContent({ sessionId: session.id, door: "library", labels: [], chunks });
    const input = { prompt_hash: Buffer.from(hash).toString("hex"), max_tokens: 20, temperature_scaled: 0 };
    const own = { ...input, provider: "open", model: "model-1" };
    for (const wrong of [{ provider: "other" }, { model: "model-2" }, { model: "Model-1" }]) {
      assert.equal((await refused("inference", { ...own, ...wrong })).code, "OTHER_MODEL");
    }
    assert.equal(asked(), 0);
    const statuses: string[] = [];
    for (let n = 0; n < 4; n++) statuses.push((await session.call("inference", own)).status);
    // Each costs 25: after two of them there are 950 left, after three there is less.
    assert.deepEqual(statuses, ["success", "success", "success", "denied"]);
    assert.equal(asked(), 3);
    const unbounded = await at.open({ more: { capabilities: [{ kind: "inference", models }] } });
    assert.equal((await unbounded.refused("inference", own)).code, "OTHER_MODEL", "no budget is no 950 left");
  });

  it("reach no file by any address, by any redirect, or from within a page", async () => {
    const session = await at.open({ reads: [server.place] });
    for (const tool of ["http_fetch", "web_fetch"]) {
      const direct = await session.refused(tool, { url: `file://${at.workspace}/secret.txt` });
      assert.equal(direct.code, "INVALID_INPUT", direct.message);
      const led = await session.refused(tool, { url: `http://${server.place}/away` });
      assert.deepEqual([led.code, /scheme/.test(led.message)], ["NETWORK_BLOCKED", true], led.message);
    }
    const page = await session.ask("web_fetch", { url: `http://${server.place}/page` });
    assert.match(JSON.stringify(page), /Text\./);
    assert.ok(!JSON.stringify(page).includes(MARK));
  });

  it("get no file from the kernel either, and declare none", async () => {
    const { refused } = await at.open({ reads: [server.place] });
    const { code, message } = await refused("prying", {});
    assert.deepEqual([code, message.includes(MARK)], ["UNDECLARED_EFFECT", false], message);
    const outside = at.kernel
      .listTools({ allVersions: false })
      .map(({ declaration }) => declaration)
      .filter(({ name }) => ["http_fetch", "web_fetch", "inference"].includes(name));
    assert.equal(outside.length, 3);
    for (const { name, effects, capabilities } of outside) {
      assert.ok(!JSON.stringify([effects, capabilities]).includes("fs_"), name);
    }
  });
});
