import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { builtinTools } from "@narthex/tools";
import { createKernel, type NarthexKernel, type OpenKernelOptions } from "narthex";
import { createTestHome, objectOf, objectsOf, parseObject, type TestHome, textOf } from "./home.ts";

const CONTAINED = builtinTools().filter(({ isolation }) => isolation === "worker" || isolation === "process");
/** One input for each, so that it is the sandbox that refuses. */
const INPUTS: Readonly<Record<string, JsonObject>> = {
  file_delete: { path: "a" },
  file_edit: { path: "a", old_content: "a", new_content: "b" },
  file_list: { path: "." },
  file_move: { source: "a", destination: "b" },
  file_read: { path: "a" },
  file_search: { pattern: "a" },
  file_write: { path: "a", content: "a" },
  git: { operation: "STATUS" },
  read_file: { path: "a" },
  shell_exec: { command: "true" },
  vault_copyto: { source: "a", destination: "b" },
};

/** A home that several kernels hold one after the other. */
async function createHome(): Promise<{ readonly workspace: string; readonly data: string; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), "narthex-bootstrap-"));
  await chmod(root, 0o755);
  const workspace = join(root, "workspace");
  await mkdir(workspace);
  if (process.getuid?.() === 0) await chown(workspace, 1000, 1000);
  return { workspace, data: join(root, "home"), remove: () => rm(root, { recursive: true, force: true }) };
}

async function open(data: string, options: OpenKernelOptions = {}): Promise<NarthexKernel> {
  const text = CONTAINED.map(
    ({ name }) => `@id("t-${name}") @approve("none") permit(principal, action == Action::"${name}", resource);`,
  );
  text.push('@id("t-git-status") @approve("none") permit(principal, action == Action::"git_status", resource);');
  return await createKernel({ data, policies: [{ name: "test.cedar", text: text.join("\n") }], ...options });
}

function errorOf({ response }: Awaited<ReturnType<NarthexKernel["callInProcess"]>>): readonly [string, string] {
  const { result } = response;
  if (result.case === "error") return [result.value.errorCode, result.value.message];
  return [result.case === "denied" ? result.value.rationaleCode : String(result.case), ""];
}

describe("on a host without containment", { timeout: 120_000 }, () => {
  let at: Awaited<ReturnType<typeof createHome>>;
  let kernel: NarthexKernel;
  before(async () => {
    at = await createHome();
    kernel = await open(at.data, { sandboxPrograms: [] });
  });
  after(async () => {
    await kernel.close();
    await at.remove();
  });

  it("every contained tool is rejected with the reason and the fix, and nothing is started", async () => {
    const capabilities = [
      { kind: "fs_read", prefixes: [at.workspace] },
      { kind: "fs_write", prefixes: [at.workspace] },
      { kind: "exec", names: ["*"] },
      { kind: "git", names: ["*"] },
      { kind: "vault", prefixes: ["/"] },
    ] as const;
    const session = await kernel.session({ workspace: at.workspace, lease: { capabilities } });
    let tried = 0;
    for (const { name } of CONTAINED) {
      const input = INPUTS[name];
      if (input === undefined) continue;
      tried++;
      const result = await session.call(name, input);
      const [code, text] = errorOf(result);
      assert.equal(code, "SANDBOX_UNAVAILABLE", `${name}: ${text}`);
      assert.match(text, /bubblewrap is not installed: apt-get install bubblewrap/, name);
      const { result: answer } = result.response;
      assert.equal(answer.case === "error" && answer.value.effectsPossible, false, name);
    }
    assert.equal(tried, Object.keys(INPUTS).length);
    assert.deepEqual(await kernel.listIntents(), []);
    assert.deepEqual((await session.call("echo", { still: "here" })).raw, { still: "here" });
  });

  it("tools list contained tools as disabled, with the reason, and others as ready", () => {
    for (const { declaration, state, reason } of kernel.listTools({ allVersions: false })) {
      const isContained = declaration.isolation === "worker" || declaration.isolation === "process";
      assert.equal(state, isContained ? "disabled" : "ready", declaration.name);
      assert.match(reason, isContained ? /bubblewrap is not installed: apt-get install/ : /^$/, declaration.name);
    }
  });

  it("the envelope in the ledger has no shell, and each class with its reason and fix", async () => {
    const envelope = await envelopeOf(kernel);
    assert.deepEqual([envelope["level"], envelope["shell_backend"], envelope["egress"]], ["L2", "disabled", "gate"]);
    for (const one of objectsOf(envelope["tool_classes"])) {
      assert.equal(one["state"], "disabled", JSON.stringify(one));
      assert.match(textOf(one["fix"]), /bubblewrap/);
    }
  });
});

describe("a session that began under a containment level", { timeout: 120_000 }, () => {
  it("is refused under a weaker level, and continues when the level is back", async () => {
    const at = await createHome();
    const opened: NarthexKernel[] = [];
    const openNext = async (options?: OpenKernelOptions): Promise<NarthexKernel> => {
      await opened.at(-1)?.close();
      const kernel = await open(at.data, options);
      opened.push(kernel);
      return kernel;
    };
    try {
      const strong = await openNext();
      const { level } = await strong.examineHost();
      assert.match(level, /^L[01]$/, "this host contains nothing: install bubblewrap");
      const session = await strong.session({ workspace: at.workspace });
      assert.equal((await session.call("file_write", { path: "a", content: "1" })).status, "success");
      const weak = await openNext({ sandboxPrograms: [] });
      const call = (kernel: NarthexKernel, tool: string, input: JsonObject) =>
        kernel.callInProcess({ token: session.token, tool, input });
      for (const [tool, input] of [
        ["file_read", { path: "a" }],
        ["file_write", { path: "a", content: "2" }],
        ["shell_exec", { command: "true" }],
      ] as const) {
        const [code, text] = errorOf(await call(weak, tool, input));
        assert.equal(code, "SANDBOX_UNAVAILABLE", tool);
        assert.match(text, new RegExp(`began at containment level ${level}, and this host now has L2: open a new`));
      }
      assert.equal((await call(weak, "echo", {})).status, "success");
      assert.equal(await readFile(join(at.workspace, "a"), "utf8"), "1");
      const again = await openNext();
      assert.equal((await call(again, "file_read", { path: "a" })).status, "success");
    } finally {
      await opened.at(-1)?.close();
      await at.remove();
    }
  });

  it("has an envelope with level, backend, mounts, limits and classes in the ledger", async () => {
    const at = await createHome();
    const kernel = await open(at.data);
    try {
      await kernel.session({ workspace: at.workspace });
      const envelope = await envelopeOf(kernel);
      assert.match(textOf(envelope["level"]), /^L[01]$/);
      assert.deepEqual([envelope["shell_backend"], envelope["egress"]], ["sandbox", "gate"]);
      assert.deepEqual(objectOf(envelope["mounts"])["vault_read"], ["the vault read"]);
      assert.ok(Number(objectOf(envelope["limits"])["memory_bytes"]) > 0);
      assert.ok(Object.values(objectOf(envelope["checks"])).every((holds) => holds === true));
      const states = objectsOf(envelope["tool_classes"]).map(({ name, state }) => `${String(name)} ${String(state)}`);
      assert.deepEqual(states, [
        "files ready",
        "shell ready",
        "git ready",
        "programs ready",
        "wasm ready",
        "vault disabled",
      ]);
    } finally {
      await kernel.close();
      await at.remove();
    }
  });
});

describe("at the command line", { timeout: 120_000 }, () => {
  let at: TestHome;
  before(async () => {
    at = await createTestHome();
    await chmod(at.root, 0o711);
  });
  after(() => at.remove());

  it("serve prints the level and the shell's backend, and its first session can write files at once", async () => {
    const serving = await at.serve("--first-session");
    assert.match(textOf(serving.ready["containment"]), /^L[01], shell backend sandbox$/);
    const workspace = textOf(objectOf(serving.ready["first_session"])["workspace"]);
    const written = await at.ask(["call", "file_write", '{"path":"a/b.txt","content":"here"}']);
    assert.equal(written["status"], "success");
    assert.equal(await readFile(join(workspace, "a/b.txt"), "utf8"), "here");
    const read = await at.run(["call", "file_read", '{"path":"a/b.txt"}']);
    assert.equal(read.stdout.trim(), "here");
    assert.equal(await serving.stop(), 0);
    await rm(workspace, { recursive: true });
    const again = await at.serve("--first-session");
    const fresh = textOf(objectOf(again.ready["first_session"])["workspace"]);
    assert.notEqual(fresh, workspace);
    assert.equal((await at.ask(["call", "file_list", '{"path":"."}']))["status"], "success");
    assert.equal(await again.stop(), 0);
  });

  it("tools list and tools show print which tools cannot run here and why, also without a kernel", async () => {
    const { tools } = await at.ask(["tools", "list"]);
    const vault = objectsOf(tools).find(({ name }) => name === "vault_copyto");
    assert.deepEqual(
      [vault?.["state"], objectsOf(tools).find(({ name }) => name === "echo")?.["state"]],
      ["disabled", "ready"],
    );
    const shown = await at.run(["tools", "show", "vault_copyto"]);
    assert.match(shown.stdout, /state +disabled: this kernel has no vault: name its directory as `vault`/);
    assert.match((await at.run(["tools", "list"])).stdout, /\nvault_copyto@1\.0\.0 .* disabled +Copies/);
  });

  it("doctor prints each class's fix as JSON", async () => {
    const { stdout } = await at.run(["doctor", "--json"]);
    for (const one of objectsOf(parseObject(stdout)["tool_classes"])) assert.equal(typeof one["fix"], "string");
  });
});

async function envelopeOf(kernel: NarthexKernel): Promise<JsonObject> {
  const records = await kernel.listRecords({ chain: "system", limit: 100 });
  const found = records.flatMap(({ record }) => {
    const text = new TextDecoder("latin1").decode(record);
    const start = text.indexOf('{"level":');
    return start === -1 ? [] : [text.slice(start, text.lastIndexOf("}") + 1)];
  });
  assert.equal(found.length, 1, "the host is examined once, and recorded");
  return parseObject(found[0] ?? "");
}
