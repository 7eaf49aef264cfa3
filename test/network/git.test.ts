import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import { createForge } from "./forge.ts";
import {
  createNetworkKernel,
  type NetworkKernel,
  type NetworkSession,
  startServer,
  type TestServer,
} from "./network-kernel.ts";
import { createAuthority, type TestAuthority } from "./test-authority.ts";

const PASSWORD = "pass-word-of-the-forge";
process.env["TEST_FORGE_PASSWORD"] = PASSWORD;

describe("git with a forge over https", { timeout: 240_000 }, () => {
  let at: NetworkKernel;
  let forge: TestServer;
  let authority: TestAuthority;
  const used = new AsyncDisposableStack();
  before(async () => {
    authority = used.use(await createAuthority());
    const root = used.adopt(execFileSync("mktemp", ["-d"]).toString().trim(), (path) => {
      execFileSync("rm", ["-rf", path]);
    });
    chmodSync(root, 0o755);
    mkdirSync(join(root, "org"));
    execFileSync("git", ["init", "-q", "--bare", "-b", "main", join(root, "org/repo.git")]);
    execFileSync("git", ["-C", join(root, "org/repo.git"), "config", "http.receivepack", "true"]);
    forge = used.use(await startServer(createForge(root, PASSWORD), authority));
    at = used.use(
      await createNetworkKernel({
        configuration: `
secrets: { forge_password: { env: TEST_FORGE_PASSWORD } }
network:
  authorities: [${authority.file}]
  credentials: [{ host: "127.0.0.1:${forge.port}", secret: forge_password, user: agent }]
`,
      }),
    );
  });
  after(() => used.disposeAsync());

  const git = async (
    { ask }: NetworkSession,
    operation: string,
    args: JsonValue[],
    more: JsonObject = {},
  ): Promise<string> => {
    const answer = await ask("git", { operation, args, ...more });
    const textOf = (name: string): string => String((answer[name] as JsonObject)["text"]);
    assert.equal(answer["exit_code"], 0, `${operation}: ${textOf("stderr")}`);
    return textOf("stdout") + textOf("stderr");
  };
  const url = (): string => `https://${forge.place}/org/repo.git`;

  it("clones, pushes and fetches with a credential that is hidden from the sandbox", async () => {
    const session = await at.open({ reads: [forge.place], sends: [forge.place] });
    await git(session, "CLONE", [url(), "work"]);
    await session.ask("file_write", { path: "work/a.txt", content: "a\n" });
    await git(session, "ADD", ["a.txt"], { cwd: "work" });
    await git(session, "COMMIT", ["-m", "first"], { cwd: "work" });
    await git(session, "PUSH", ["origin", "HEAD:main"], { cwd: "work", hosts: [forge.place] });
    await git(session, "FETCH", ["origin"], { cwd: "work", hosts: [forge.place] });
    assert.match(await git(session, "LOG", ["--oneline", "origin/main"], { cwd: "work" }), /first/);
    const config = await readFile(join(at.workspace, "work/.git/config"), "utf8");
    assert.doesNotMatch(config, /127\.0\.0\.1:3128|pass-word/);
    assert.match(config, new RegExp(`url = ${url().replaceAll(".", "\\.")}`));
    const seen = await session.egress();
    assert.ok(
      seen.includes(`GET ${forge.place} loopback 200`) && seen.includes(`POST ${forge.place} loopback 200`),
      seen.join("\n"),
    );
  });

  it("hides a credential that the forge repeats from the sandbox and the workspace", async () => {
    const session = await at.open({ reads: [forge.place] });
    const basic = Buffer.from(`agent:${PASSWORD}`).toString("base64");
    for (const [path, expected] of [
      ["quoting.git", /remote error: no \*{22} and no Basic /],
      ["quoting.git/away", /returned error: 302/],
    ] as const) {
      const answer = await session.ask("git", {
        operation: "CLONE",
        args: [`https://${forge.place}/${path}`, "quoted"],
      });
      const said = JSON.stringify(answer);
      assert.match(said, expected, "it was hidden before git read it");
      assert.doesNotMatch(said, /pass-word|\[secret/);
      assert.ok(!said.includes(basic.slice(8)));
    }
    for (const file of await readdir(at.root, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = await readFile(join(file.parentPath, file.name));
      for (const form of [PASSWORD, basic.slice(8)]) assert.equal(bytes.indexOf(form), -1, file.name);
    }
  });

  it("fetches with read permission only, and does not push with it", async () => {
    const session = await at.open({ reads: [forge.place] });
    await git(session, "CLONE", [url(), "reader"]);
    const { code } = await session.refused("git", {
      operation: "PUSH",
      args: ["origin", "HEAD:other"],
      cwd: "reader",
      hosts: [forge.place],
    });
    assert.equal(code, "CAPABILITY_MISSING");
  });

  it("contacts no host that was not named", async () => {
    const session = await at.open({ reads: [forge.place], sends: [forge.place] });
    const { code, message } = await session.refused("git", { operation: "FETCH", args: ["origin"], cwd: "work" });
    assert.equal(code, "NETWORK_BLOCKED", message);
    const { code: other } = await session.refused("git", {
      operation: "CLONE",
      args: ["https://example.com/a.git", "b"],
    });
    assert.equal(other, "CAPABILITY_MISSING");
  });

  it("uses https for a remote with an ssh address or a user name", async () => {
    const session = await at.open({ reads: [forge.place] });
    await git(session, "CLONE", [url().replace("//", "//agent@"), "named"]);
    const { code, message } = await session.refused("git", {
      operation: "CLONE",
      args: ["git@127.0.0.1:org/repo.git", "b"],
    });
    assert.deepEqual([code, /127\.0\.0\.1:443/.test(message)], ["CAPABILITY_MISSING", true], message);
  });

  it("goes through the gate over https for an ssh address", async () => {
    const session = await at.open({ reads: ["127.0.0.1:443"] });
    for (const address of ["git@127.0.0.1:org/repo.git", "ssh://git@127.0.0.1/org/repo.git"]) {
      const answer = await session.ask("git", { operation: "CLONE", args: [address, "by-ssh"] });
      assert.notEqual(answer["exit_code"], 0, "nobody listens there");
    }
    assert.deepEqual(await session.egress(), ["GET 127.0.0.1:443 loopback 0", "GET 127.0.0.1:443 loopback 0"]);
  });

  it("works without the credential when a shell runs it among other programs", async () => {
    const session = await at.open({ reads: [forge.place], sends: [forge.place] });
    const answer = await session.ask("shell_exec", { command: `git ls-remote ${url()}; env`, network_access: true });
    const text = JSON.stringify(answer);
    assert.match(text, /could not read Username|Authentication failed/);
    assert.doesNotMatch(text, /pass-word/);
  });
});
