import assert from "node:assert/strict";
import { chown, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { ContentRole } from "@narthex/contracts";
import { HOST_FUNCTIONS, type LeaseRequest } from "@narthex/kernel";
import type { SocketSession } from "../doors/socket-kernel.ts";
import { answerOf, failureOf } from "../tools/program-home.ts";
import { createWasmHome, tell, unhex, type WasmHome } from "./wasm-home.ts";

const codeOf = (name: (typeof HOST_FUNCTIONS)[number]): number => HOST_FUNCTIONS.indexOf(name) + 1;
const NET = { tier: "side_effecting", determinism: "external" };
const SEED = new Uint8Array(32).fill(7);

describe("a module's host calls", { timeout: 300_000 }, () => {
  let home: WasmHome;
  let server: Server;
  let port: number;
  before(async () => {
    server = createServer((request, response) => response.end(`${request.method} ${request.url}`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ({ port } = server.address() as AddressInfo);
    home = await createWasmHome();
    await home.addProbe("pure_probe");
    await home.addProbe("seeded_probe", { determinism: "deterministic" });
    await home.addProbe("free_probe", { determinism: "nondeterministic" });
    await home.addProbe("file_probe", {
      determinism: "deterministic",
      effects: ["fs_read", "fs_write"],
      tier: "side_effecting",
    });
    const hosts = [{ host: "127.0.0.1", ports: [port] }];
    await home.addProbe("net_probe", { ...NET, effects: ["net_read"], capabilities: [{ kind: "net_read", hosts }] });
    const { workspace } = home.at;
    await writeFile(join(workspace, "a.txt"), "one two\n");
    await mkdir(join(workspace, ".git", "hooks"), { recursive: true });
    await symlink("a.txt", join(workspace, "inside"));
    await symlink("/etc/passwd", join(workspace, "outside"));
    await symlink(".git/config", join(workspace, "sly"));
    await writeFile(join(workspace, ".git", "config"), "[core]\n");
    if (process.getuid?.() === 0) {
      for (const path of ["a.txt", ".git", ".git/hooks", ".git/config"]) await chown(join(workspace, path), 1000, 1000);
    }
    await home.at.start();
  });
  after(async () => {
    server.close();
    await home.at.remove();
  });

  type Told = Parameters<typeof tell>;
  const call = (tool: string, ...told: Told) => home.at.call(tool, tell(...told));
  const open = (lease?: LeaseRequest): Promise<SocketSession> =>
    home.at.kernel.session({ workspace: home.at.workspace, seed: SEED, ...(lease && { lease }) });
  /** What is counted of one function in the latest outcome. */
  async function counted(name: (typeof HOST_FUNCTIONS)[number]): Promise<readonly number[]> {
    const { hostCalls } = await home.lastUse();
    const found = hostCalls.find((one) => one.name === name) ?? assert.fail(`${name} is not counted`);
    return [found.calls, found.requestBytes, found.answerBytes].map(Number);
  }

  it("return an error number for an invalid request, and cost fuel all the same", async () => {
    assert.equal(answerOf(await call("pure_probe", "h", 0, "")), -1);
    const small = (await home.lastUse()).fuelUsed;
    assert.equal(answerOf(await call("pure_probe", "h", 0, "x".repeat(500))), -1);
    // A byte of a request costs one; the input itself is longer by as much, and reading it costs nothing.
    assert.equal((await home.lastUse()).fuelUsed - small, 500n);
    assert.equal(answerOf(await call("pure_probe", "h", codeOf("random"), "no number")), -1);
  });

  it("log: keeps content that the session can read, and counts it", async () => {
    assert.equal(answerOf(await call("pure_probe", "h", codeOf("log"), "a remark")), "");
    assert.deepEqual(await counted("log"), [1, 8, 0]);
    assert.deepEqual(await home.lastContent(ContentRole.OUTPUT), ["a remark\n"]);
  });

  it("clock: shows logical time to deterministic tools, real time to others, and nothing without the capability", async () => {
    const time = (answer: unknown): bigint => Buffer.from(String(answer), "hex").readBigUInt64LE();
    const session = await open();
    const first = time(answerOf(await session.call("seeded_probe", tell("h", codeOf("clock")))));
    assert.equal(first, 946_684_801_000n);
    const before = BigInt(Date.now());
    const wall = time(answerOf(await session.call("free_probe", tell("h", codeOf("clock")))));
    assert.ok(wall >= before && wall <= BigInt(Date.now()));
    assert.deepEqual(await counted("clock"), [1, 0, 8]);
    const wasm = { kind: "wasm_exec", maxFuel: 1e9, maxMemoryBytes: 16 * 1024 * 1024 } as const;
    const timeless = await open({ capabilities: [wasm] });
    assert.equal(answerOf(await timeless.call("free_probe", tell("h", codeOf("clock")))), -2);
  });

  it("random: repeats by seed and call number for deterministic tools, and never for others", async () => {
    const throwIn = async (session: SocketSession, tool: string) =>
      String(answerOf(await session.call(tool, tell("r", codeOf("random")))));
    const [one, other] = [await open(), await open()];
    const first = await throwIn(one, "pure_probe");
    assert.match(first, /^[0-9a-f]{32}$/);
    assert.deepEqual(await counted("random"), [1, 4, 16]);
    assert.equal(await throwIn(other, "pure_probe"), first);
    assert.notEqual(await throwIn(one, "pure_probe"), first);
    assert.notEqual(await throwIn(one, "free_probe"), await throwIn(other, "free_probe"));
  });

  it("has_capability: reports the intersection of lease and declaration", async () => {
    const code = codeOf("has_capability");
    const has = async (tool: string, right: string) => answerOf(await call(tool, "h", code, right));
    assert.equal(await has("pure_probe", "clock"), "01");
    assert.deepEqual(await counted("has_capability"), [1, 5, 1]);
    assert.equal(await has("file_probe", "fs_read"), "01");
    assert.equal(await has("file_probe", "fs_read a.txt"), "01");
    assert.equal(await has("file_probe", "fs_write /etc/passwd"), "00");
    assert.equal(await has("file_probe", "fs_read ../a.txt"), "00");
    assert.equal(await has("pure_probe", "fs_read a.txt"), "00");
    assert.equal(await has("file_probe", "exec"), "00");
  });

  it("fs_read: reads only files of the workspace, recorded in the ledger", async () => {
    const read = async (path: string) => answerOf(await call("file_probe", "h", codeOf("fs_read"), path));
    assert.equal(unhex(await read("a.txt")), "one two\n");
    assert.deepEqual(await counted("fs_read"), [1, 5, 8]);
    assert.match(
      String(await home.lastContent(ContentRole.FILES)),
      /"read":\[\{"hash":"[0-9a-f]{64}","of":8,"offset":0,"path":"a.txt","size":8\}\]/,
    );
    assert.equal(unhex(await read("/workspace/a.txt")), "one two\n");
    assert.equal(unhex(await read("inside")), "one two\n");
    assert.equal(await read("missing"), -3);
    assert.equal(await read("../a.txt"), -1);
    assert.equal(await read("/etc/passwd"), -2);
    assert.equal(await read("outside"), -2);
    assert.equal(await read(".git"), -5);
  });

  it("fs_write: changes files of the workspace, except protected ones, and keeps the earlier content", async () => {
    const write = (path: string, text: string) => call("file_probe", "w", codeOf("fs_write"), `${path} ${text}`);
    assert.equal(answerOf(await write("a.txt", "changed")), "");
    assert.equal(await readFile(join(home.at.workspace, "a.txt"), "utf8"), "changed");
    assert.deepEqual(await counted("fs_write"), [1, 16, 0]);
    assert.deepEqual(await home.lastContent(ContentRole.PREIMAGE), ["one two\n"]);
    assert.match(String(await home.lastContent(ContentRole.FILES)), /"changed":\[\{"after":.*"path":"a.txt"/);
    assert.equal(answerOf(await write("/tmp/x", "x")), -2);
    for (const path of [".git/hooks/pre-commit", ".git/config"]) {
      assert.equal(failureOf(await write(path, "evil")).code, "UNDECLARED_EFFECT");
    }
    const { response } = await write("sly", "evil");
    assert.notEqual(response.result.case, "success");
    assert.equal(await readFile(join(home.at.workspace, ".git", "config"), "utf8"), "[core]\n");
    await writeFile(join(home.at.workspace, "a.txt"), "one two\n");
  });

  it("fetch: goes through the gate to the session's hosts, recorded in the ledger", async () => {
    const wasm = { kind: "wasm_exec", maxFuel: 1e9, maxMemoryBytes: 16 * 1024 * 1024 } as const;
    const hosts = [{ host: "127.0.0.1", ports: [port] }];
    const session = await open({ capabilities: [wasm, { kind: "net_read", hosts }] });
    const ask = (url: string, more = "") =>
      session.call("net_probe", tell("q", codeOf("fetch"), `{'url':'${url}'${more}}`));
    const answer = unhex(answerOf(await ask(`http://127.0.0.1:${port}/page`)));
    assert.match(answer.slice(4), /^\{"status":200,"url":"http:\/\/127.0.0.1:\d+\/page".*\}GET \/page$/);
    assert.ok((await home.lastEntries()).includes("egressRequested"));
    // It declared the one host.
    assert.equal(failureOf(await ask("http://127.0.0.1:1/page")).code, "UNDECLARED_EFFECT");
    assert.ok((await home.lastEntries()).includes("egressRefused"));
    assert.equal(answerOf(await ask("file:///etc/passwd")), -2);
    assert.equal(answerOf(await session.call("net_probe", tell("q", codeOf("fetch"), "{'uri':1}"))), -1);
    const has = (right: string) => session.call("net_probe", tell("h", codeOf("has_capability"), right));
    assert.equal(answerOf(await has(`net_read 127.0.0.1:${port}`)), "01");
    assert.equal(answerOf(await has("net_read example.com:443")), "00");
    // Only reading was declared.
    assert.equal(failureOf(await ask(`http://127.0.0.1:${port}/`, ",'method':'POST'")).code, "UNDECLARED_EFFECT");
  });

  it("content_put and content_get: use the session's own content, and are not for pure tools", async () => {
    const [session, other] = [await open(), await open()];
    const hash = unhex(answerOf(await session.call("seeded_probe", tell("h", codeOf("content_put"), "kept"))));
    assert.deepEqual(await counted("content_put"), [1, 4, 64]);
    const get = (who: SocketSession, tool = "seeded_probe") => who.call(tool, tell("h", codeOf("content_get"), hash));
    assert.equal(unhex(answerOf(await get(session))), "kept");
    assert.deepEqual(await counted("content_get"), [1, 64, 4]);
    assert.equal(answerOf(await get(other)), -3);
    assert.equal(answerOf(await session.call("seeded_probe", tell("h", codeOf("content_get"), "kept"))), -1);
    assert.equal(failureOf(await get(session, "pure_probe")).code, "UNDECLARED_EFFECT");
  });

  for (const [tool, mode, name] of [
    ["seeded_probe", "h", "fs_read"],
    ["seeded_probe", "w", "fs_write"],
    ["seeded_probe", "q", "fetch"],
  ] as const) {
    it(`end the call in UNDECLARED_EFFECT if ${name} was not declared, without any effect`, async () => {
      const text = name === "fetch" ? `{'url':'http://127.0.0.1:${port}/'}` : "b.txt text";
      const session = await open();
      const { code } = failureOf(await session.call(tool, tell(mode, codeOf(name), text)));
      assert.equal(code, "UNDECLARED_EFFECT");
      assert.deepEqual((await counted(name)).slice(0, 1), [1]);
    });
  }

  it("are run only by sessions with a capability for as much fuel and memory", async () => {
    for (const [maxFuel, maxMemoryBytes] of [
      [1e9 - 1, 16 * 1024 * 1024],
      [1e9, 16 * 1024 * 1024 - 1],
    ] as const) {
      const session = await open({ capabilities: [{ kind: "wasm_exec", maxFuel, maxMemoryBytes }] });
      const { result } = (await session.call("pure_probe", tell("b", 0, "1"))).response;
      assert.equal(result.case === "denied" && result.value.rationaleCode, "CAPABILITY_MISSING");
    }
  });
});
