import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createNetworkKernel, startServer } from "./network-kernel.ts";

const SECRET = "s3cret-that-stays-with-the-gate";
process.env["TEST_GATE_TOKEN"] = SECRET;

/** All that a secret may be written as where bytes are only kept. */
const FORMS = [SECRET, Buffer.from(SECRET).toString("base64").slice(0, 40), Buffer.from(SECRET).toString("hex")];

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

describe("a secret that a call names", { timeout: 120_000 }, () => {
  it("appears only by name in approvals, repeats and the ledger, and is stored in no file", async () => {
    await using server = await startServer((request, response) => response.end(JSON.stringify(request.headers)));
    const asked: string[] = [];
    await using at = await createNetworkKernel({
      configuration: `
secrets: { gate_token: { env: TEST_GATE_TOKEN } }
network: { secrets: { gate_token: ["127.0.0.1:${server.port}"] } }
`,
      rules: `@id("test-ask") @approve("human") permit(principal, action, resource);`,
      approver: {
        door: "test",
        ask(question) {
          asked.push(JSON.stringify(question, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value)));
          return Promise.resolve({ approved: true, approver: "ann" });
        },
      },
    });
    const { session } = await at.open({ reads: [server.place] });
    const headers = [{ name: "authorization", value: { $secret: "gate_token" }, prefix: "Bearer " }];
    const input = { url: `http://${server.place}/`, headers };
    const first = await session.call("http_fetch", input, { requestId: "one" });
    assert.equal(first.status, "success");
    // The server was shown it, and said it again.
    assert.equal(server.requests[0]?.headers.authorization, `Bearer ${SECRET}`);
    const again = await session.call("http_fetch", input, { requestId: "one" });
    assert.deepEqual([again.status, again.hash, server.requests.length], ["success", first.hash, 1]);
    assert.equal(asked.length, 1);
    assert.match(asked[0] ?? "", /\$secret/);
    for (const form of FORMS) assert.ok(!asked[0]?.includes(form) && !JSON.stringify(first.raw).includes(form));
    const files = await filesBelow(at.root);
    assert.ok(files.length > 5);
    for (const file of files) {
      const bytes = await readFile(file);
      for (const form of FORMS) assert.equal(bytes.indexOf(form), -1, file);
    }
  });
});
