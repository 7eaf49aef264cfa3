import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { createNetworkKernel, type NetworkKernel, startServer, type TestServer } from "./network-kernel.ts";
import { createNpmRegistry, createPythonIndex } from "./registries.ts";
import { createAuthority, type TestAuthority } from "./test-authority.ts";

describe("installers in the sandbox", { timeout: 240_000 }, () => {
  let at: NetworkKernel;
  let authority: TestAuthority;
  let npm: TestServer;
  let python: TestServer;
  let secure: TestServer;
  const used = new AsyncDisposableStack();
  before(async () => {
    authority = used.use(await createAuthority());
    npm = used.use(await startServer(createNpmRegistry()));
    python = used.use(await startServer(createPythonIndex()));
    secure = used.use(await startServer((_, response) => void response.end("by TLS"), authority));
    at = used.use(await createNetworkKernel());
  });
  after(() => used.disposeAsync());

  /** On the loopback a program asks nobody's proxy, unless it is told to. */
  async function run(
    command: string,
    places: readonly string[],
  ): Promise<[code: unknown, out: string, egress: string[]]> {
    const session = await at.open({ reads: places, sends: places });
    const proxied = `export no_proxy= NO_PROXY=; ${command}`;
    const answer = await session.ask("shell_exec", { command: proxied, network_access: true, timeout_ms: 120_000 });
    const textOf = (name: string): string => String((answer[name] as JsonObject)["text"]);
    return [answer["exit_code"], textOf("stdout") + textOf("stderr"), await session.egress()];
  }

  it("npm installs only from a granted registry", async () => {
    const script = `mkdir -p app && cd app && npm init -y >/dev/null && npm install --registry http://${npm.place}/ --no-audit --no-fund --fetch-retries 0 greeting && node -p 'require("greeting")'`;
    const [code, out, egress] = await run(script, [npm.place]);
    assert.deepEqual([code, /hello from the registry/.test(out)], [0, true], out);
    assert.ok(egress.includes(`GET ${npm.place} loopback 200`), egress.join("\n"));
    const [refused, said] = await run(script.replaceAll("app", "other"), [python.place]);
    assert.notEqual(refused, 0, said);
    assert.match(said, /403|E403|NETWORK_BLOCKED/);
  });

  it("pip installs from a granted index", async () => {
    const [code, out] = await run(
      `/usr/bin/python3 -m pip download --no-deps --no-build-isolation --no-binary :all: -q -d wheels --trusted-host 127.0.0.1 --index-url http://${python.place}/simple/ greeting==1.0.0; ls wheels`,
      [python.place],
    );
    assert.match(out, /greeting-1\.0\.0\.tar\.gz/, `${String(code)} ${out}`);
  });

  it("curl speaks TLS through a tunnel to the requested host", async () => {
    const [code, out, egress] = await run(`curl -sS -k -m 20 https://${secure.place}/`, [secure.place]);
    assert.deepEqual([code, out, egress], [0, "by TLS", [`CONNECT ${secure.place} loopback 0`]]);
  });

  it("curl gets no tunnel with read permission only", async () => {
    const session = await at.open({ reads: [secure.place] });
    const { code } = await session.refused("shell_exec", {
      command: `no_proxy= NO_PROXY= curl -sS -k -m 20 https://${secure.place}/`,
      network_access: true,
      network_read_only: true,
    });
    assert.equal(code, "UNDECLARED_EFFECT");
    assert.deepEqual(await session.egress(), [`refused CONNECT ${secure.place} undeclared_effect`]);
  });
});
