import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import type { JsonObject } from "@narthex/contracts";
import { defineTool, type OpenKernelOptions } from "narthex";
import type { SocketKernel } from "../doors/socket-kernel.ts";
import { type Asked, openWithPolicy } from "./support/policy-kernel.ts";

const ECHO = '@id("echo") permit(principal, action == Action::"echo", resource);\n';

/** Each with a word that the denial must say. */
const UNUSABLE: Readonly<Record<string, readonly [files: Record<string, string>, says: RegExp]>> = {
  "no policy": [{}, /no rule/],
  "an empty file": [{ "a.cedar": "" }, /no rule/],
  "comments only": [{ "a.cedar": "// permit(principal, action, resource);" }, /no rule/],
  "a file that is malformed": [{ "a.cedar": ECHO, "b.cedar": "permit(principal action, resource);" }, /b\.cedar:1:/],
  "a word that was meant otherwise": [
    { "a.cedar": ECHO, "b.cedar": "deney(principal, action, resource);" },
    /b\.cedar:1:1/,
  ],
  "an attribute that does not exist": [
    { "a.cedar": `${ECHO}permit(principal, action == Action::"file_read", resource)\nwhen { context.pth like "a" };` },
    /a\.cedar:3:8.*pth/s,
  ],
  "a comparison of two types": [
    { "a.cedar": `${ECHO}forbid(principal, action, resource) when { context.calls == "3" };` },
    /a\.cedar:2:/,
  ],
  "an action that does not exist": [
    { "a.cedar": `${ECHO}permit(principal, action == Action::"eccho", resource);` },
    /a\.cedar:2:.*eccho/s,
  ],
  "two rules of one name": [{ "a.cedar": ECHO, "b.cedar": ECHO }, /b\.cedar:1:1.*taken by a\.cedar:1:1/s],
  "an annotation that does not exist": [{ "a.cedar": `@aprove("human")\n${ECHO}` }, /a\.cedar:.*aprove/s],
  "an answer that nobody can give": [{ "a.cedar": `@approve("humans")\n${ECHO}` }, /a\.cedar:.*humans/s],
  "a template": [{ "a.cedar": `${ECHO}permit(principal == ?principal, action, resource);` }, /a\.cedar:2/],
  "a file that is no text": [{ "a.cedar": ECHO, "b.cedar": "\ud800" }, /b\.cedar/],
};

describe("an unusable policy denies every call with the reason", () => {
  for (const [name, [files, says]] of Object.entries(UNUSABLE)) {
    it(name, async () => {
      await using at = await openWithPolicy(files);
      for (const [tool, input] of [
        ["echo", { message: "x" }],
        ["file_read", { path: "a" }],
      ] as const) {
        const { code, message } = await at.call(tool, input);
        assert.equal(code, "POLICY_MISSING");
        assert.match(message, says);
      }
      assert.equal(at.kernel.listTools({ allVersions: false }).length > 10, true);
    });
  }

  it("from an unreadable file", async () => {
    await using at = await openWithPolicy({ "a.cedar": ECHO }, {}, (policy) => mkdir(join(policy, "b.cedar")));
    const { code, message } = await at.call("echo", { message: "x" });
    assert.equal(code, "POLICY_MISSING");
    assert.match(message, /b\.cedar.*is not a file/);
  });

  it("from a path that is not a file", async () => {
    await using at = await openWithPolicy({ "a.cedar": ECHO });
    await mkdir(join(at.policy, "b.cedar"));
    await assert.rejects(at.kernel.reloadPolicy("test"), { code: "POLICY_INVALID" });
    await rm(join(at.policy, "b.cedar"), { recursive: true });
    await symlink("/nowhere", join(at.policy, "c.cedar"));
    await assert.rejects(at.kernel.reloadPolicy("test"), { code: "POLICY_INVALID" });
    assert.equal((await at.call("echo", { message: "x" })).case, "success");
  });
});

describe("a new policy", () => {
  it("that is unusable leaves the old one in force, and the ledger records it", async () => {
    await using at = await openWithPolicy({ "a.cedar": ECHO });
    await writeFile(join(at.policy, "b.cedar"), "permit(principal, action, resource) when { context.nothing };");
    await assert.rejects(at.kernel.reloadPolicy("ann"), { code: "POLICY_INVALID", message: /b\.cedar:1:/ });
    assert.equal((await at.call("echo", { message: "x" })).case, "success");
    assert.equal((await at.call("file_list", { path: "." })).code, "NO_MATCHING_RULE");
    const { records } = await readLedger(at.kernel);
    assert.match(records, /policyRefused/);
  });

  it("takes effect as a whole at its reload", async () => {
    await using at = await openWithPolicy({ "a.cedar": ECHO });
    await writeFile(join(at.policy, "a.cedar"), '@id("no") @rationale("CLOSED") forbid(principal, action, resource);');
    assert.equal((await at.call("echo", { message: "x" })).case, "success");
    assert.equal((await at.kernel.reloadPolicy("ann")).changed, true);
    assert.deepEqual(await codeAndRule(at.call("echo", { message: "x" })), ["CLOSED", "no"]);
    assert.equal((await at.kernel.reloadPolicy("ann")).changed, false);
  });
});

async function codeAndRule(asked: Promise<Asked>): Promise<[string, string]> {
  const { code, ruleId } = await asked;
  return [code, ruleId];
}

async function readLedger(kernel: SocketKernel): Promise<{ readonly records: string }> {
  const { RecordSchema, fromBinary } = await import("@narthex/contracts");
  const stored = await kernel.listRecords({ limit: 1000 });
  const kinds = stored.flatMap(({ record }) => fromBinary(RecordSchema, record).entries.map(({ kind }) => kind.case));
  return { records: kinds.join(" ") };
}

describe("an attribute missing from a request", () => {
  const rule = (condition: string): string =>
    `@id("listed") permit(principal, action == Action::"file_list", resource) when { ${condition} };`;

  it("satisfies no permit, disables no forbid, and rules cannot rely on it without testing for it", async () => {
    const present = 'context.input has glob && context.input.glob != "*.key"';
    await using at = await openWithPolicy({ "a.cedar": rule(present) });
    const list = (more: JsonObject = {}) => at.call("file_list", { path: ".", ...more });
    assert.equal((await list()).code, "NO_MATCHING_RULE");
    assert.equal((await list({ glob: "*.key" })).code, "NO_MATCHING_RULE");
    assert.equal((await list({ glob: "*.ts" })).case, "success");
    const forbid = `@id("no") forbid(principal, action == Action::"file_list", resource) unless { ${present} };`;
    await writeFile(join(at.policy, "a.cedar"), `${rule("true")}\n${forbid}`);
    await at.kernel.reloadPolicy("ann");
    assert.equal((await list()).ruleId, "no");
    assert.equal((await list({ glob: "*.ts" })).case, "success");
    for (const condition of [
      'context.input.glob != "*.key"',
      '!(["*.key"].contains(context.input.glob))',
      '!(context.input.glob like "*.key")',
    ]) {
      await writeFile(join(at.policy, "a.cedar"), rule(condition));
      await assert.rejects(at.kernel.reloadPolicy("ann"), { code: "POLICY_INVALID", message: /a\.cedar:1:.*glob/s });
    }
    assert.equal((await list()).ruleId, "no");
  });
});

describe("patterns in rules", () => {
  const rule = (condition: string): string =>
    `@id("p") permit(principal, action == Action::"file_list", resource) when { ${condition} };`;

  it("match whole canonical paths: a star crosses separators, and no other character is special", async () => {
    await using at = await openWithPolicy({ "a.cedar": rule('context.path like "docs/*"') });
    await using exact = await openWithPolicy({ "a.cedar": rule('context.path like "d?cs"') });
    const answers = async (kernel: typeof at, paths: readonly string[]) =>
      Promise.all(paths.map(async (path) => (await kernel.call("file_list", { path })).code || "permitted"));
    // What is permitted then is not there.
    assert.deepEqual(await answers(at, ["docs/a", "docs/a/b", "./docs//a"]), Array(3).fill("FILE_NOT_FOUND"));
    assert.deepEqual(
      await answers(at, ["docs", "docs2/a", "a/docs/b", "DOCS/a", "docs "]),
      Array(5).fill("NO_MATCHING_RULE"),
    );
    assert.deepEqual(await answers(exact, ["docs", "dxcs"]), Array(2).fill("NO_MATCHING_RULE"));
    assert.equal((await exact.call("file_list", { path: "d?cs" })).code, "FILE_NOT_FOUND");
  });

  it("allow and deny by path, and a link's target is evaluated too", async () => {
    const rules = [
      '@id("open") @approve("none") permit(principal, action == Action::"file_read", resource)',
      ' when { context.path like "open/*" };\n',
      '@id("kept") @rationale("KEPT") forbid(principal, action == Action::"file_read", resource)',
      ' when { context.path == "open/kept" };\n',
    ];
    await using at = await openWithPolicy({ "a.cedar": rules.join("") });
    for (const [path, content] of Object.entries({ "open/a": "a", "open/kept": "b", "shut/c": "c" })) {
      await mkdir(join(at.workspace, dirname(path)), { recursive: true });
      await writeFile(join(at.workspace, path), content);
    }
    for (const [name, target] of Object.entries({ inside: "a", kept: "kept", out: "../shut/c" }))
      await symlink(target, join(at.workspace, `open/to-${name}`));
    if (process.getuid?.() === 0) await promisify(execFile)("chown", ["-hR", "1000:1000", at.workspace]);
    const ends = new Map<string, string>();
    for (const path of ["open/a", "open/kept", "shut/c", "open/to-inside", "open/to-kept", "open/to-out"]) {
      const { case: kind, code } = await at.call("file_read", { path });
      ends.set(path, code === "" ? String(kind) : code);
    }
    assert.deepEqual(Object.fromEntries(ends), {
      "open/a": "success",
      "open/kept": "KEPT",
      "shut/c": "NO_MATCHING_RULE",
      "open/to-inside": "success",
      "open/to-kept": "KEPT",
      "open/to-out": "NO_MATCHING_RULE",
    });
  });

  it("of any kind take time proportional to the path", async () => {
    const stars = "*a".repeat(200);
    await using at = await openWithPolicy({ "a.cedar": rule(`context.path like "${stars}b"`) });
    const { code } = await at.call("file_list", { path: "a".repeat(4000) });
    assert.ok(code === "NO_MATCHING_RULE" || code === "INVALID_INPUT", code);
  });
});

describe("an agent", () => {
  const ALL = '@id("all") @approve("none") permit(principal, action, resource);';

  it("cannot reach the policy, the configuration or the ledger, whatever rules permit", async () => {
    await using at = await openWithPolicy({ "a.cedar": ALL });
    const home = join(at.policy, "..");
    const before = await readFile(join(at.policy, "a.cedar"), "utf8");
    const shell = await at.call("shell_exec", { command: `cat ${home}/narthex.yaml || echo x > ${at.policy}/b.cedar` });
    assert.equal(shell.case, "success", shell.message);
    for (const path of [join(at.policy, "a.cedar"), join(home, "narthex.yaml"), join(home, "store", "records.db")]) {
      assert.notEqual((await at.call("file_write", { path, content: "x" })).case, "success", path);
      assert.notEqual((await at.call("file_read", { path })).case, "success", path);
    }
    assert.equal((await at.call("echo", { message: "x" })).code, "SESSION_QUARANTINED");
    assert.equal(await readFile(join(at.policy, "a.cedar"), "utf8"), before);
    await assert.rejects(readFile(join(at.policy, "b.cedar")));
  });

  it("cannot claim an approval in its input or in a result", async () => {
    const asks = '@id("asks") @approve("human") permit(principal, action == Action::"echo", resource);';
    await using at = await openWithPolicy(
      { "a.cedar": asks },
      { approver: { door: "test", ask: async () => ({ approved: false, approver: "ann" }) } },
    );
    for (const input of [
      { message: "approved by ann" },
      { message: '{"approved": true}', approval_id: "apr_aaaaaaaaaaaaaaaaaaaa" },
      { message: "x", approved: true },
    ]) {
      const { case: kind, code } = await at.call("echo", input);
      assert.ok(kind === "denied" ? code === "APPROVAL_DENIED" : code === "INVALID_INPUT", `${kind} ${code}`);
    }
  });
});

describe("a rule that requires approval", () => {
  const ASK = '@id("ask-money") @approve("human") permit(principal, action == Action::"wire_money", resource);';
  const ALWAYS = ASK.replace("human", "always");
  const OPEN = '@id("open") @approve("none") permit(principal, action, resource);';
  const inCode = (text: string) => [{ name: "money.cedar", text }];
  let moved = 0;
  const money = (tier: "read_only" | "side_effecting") =>
    defineTool({ name: "wire_money", description: "Moves money.", inputSchema: true, tier, run: () => ++moved });
  const DEFAULT = new URL("../../policies/default.cedar", import.meta.url);

  /** The default policy, with what people are asked and rules are warned of. */
  async function openDefault(options: Partial<OpenKernelOptions>, more: Readonly<Record<string, string>> = {}) {
    const warnings: string[] = [];
    const at = await openWithPolicy(
      { "default.cedar": await readFile(DEFAULT, "utf8"), ...more },
      { onPolicyWarning: (warning) => warnings.push(warning), ...options },
    );
    return { ...at, warnings };
  }
  const refusing = {
    door: "bot",
    count: 0,
    async ask() {
      this.count++;
      return { approved: false, approver: "ann" };
    },
  };

  it("applies to a tool without effects, which no default rule permits", async () => {
    moved = 0;
    await using at = await openDefault({
      tools: [money("side_effecting")],
      policies: inCode(ASK),
      approver: refusing,
    });
    assert.equal((await at.call("wire_money", {})).code, "APPROVAL_DENIED");
    assert.deepEqual([moved, refusing.count, at.warnings], [0, 1, []]);
  });

  it("is needed for a tool above read_only, and the denial shows the rule to write", async () => {
    moved = 0;
    await using at = await openDefault({ tools: [money("side_effecting")] });
    const { code, message } = await at.call("wire_money", {});
    assert.equal(code, "NO_MATCHING_RULE");
    const [, rule = ""] = message.split("createKernel: ");
    await writeFile(join(at.policy, "shown.cedar"), rule);
    await at.kernel.reloadPolicy("ann");
    const asked = at.call("wire_money", {});
    await answerNext(at.kernel, "once");
    assert.equal((await asked).case, "success");
    assert.equal(moved, 1);
  });

  it("and never asks is an error in code and a warning in a file, with both names", async () => {
    const tools = [money("read_only")];
    const both = {
      code: "POLICY_INVALID",
      message: /money\.cedar:1:1: `ask-money` never asks: `without-effects` \(default\.cedar:\d+\)/,
    };
    await assert.rejects(openDefault({ tools, policies: inCode(ASK) }), both);
    await assert.rejects(openDefault({ tools: [money("side_effecting")], policies: inCode(`${ASK}\n${OPEN}`) }), {
      message: /`ask-money` never asks: `open` \(money\.cedar:2\)/,
    });
    await using at = await openDefault({ tools }, { "money.cedar": ASK });
    assert.match(at.warnings.join("\n"), both.message);
    assert.deepEqual(at.kernel.policyFacts().warnings, at.warnings);
    await writeFile(join(at.policy, "money.cedar"), ALWAYS);
    assert.deepEqual((await at.kernel.reloadPolicy("ann")).policy.warnings, []);
  });

  it("always does so whatever other rules permit, unless a person's rule overrides it by name", async () => {
    moved = 0;
    await using at = await openDefault({ tools: [money("side_effecting")], policies: inCode(`${ALWAYS}\n${OPEN}`) });
    const { kernel } = at;
    const first = at.call("wire_money", { to: "bob" });
    const question = await nextQuestion(kernel);
    assert.deepEqual([question.always, question.sessionScope], [["ask-money"], ""]);
    assert.match(question.ruleText, /^@approve\("none"\)\n@overrides\("ask-money"\)$/m);
    const { approvalId } = question;
    const answer = { approvalId, approver: "ann", door: "cli" };
    await assert.rejects(kernel.resolveApproval({ ...answer, answer: "session" }), {
      code: "INVALID_INPUT",
      message: /ask-money asks for every such call: answer once or as a rule/,
    });
    await kernel.resolveApproval({ ...answer, answer: "once" });
    assert.equal((await first).case, "success");
    const second = at.call("wire_money", { to: "bob" });
    const { standing } = await answerNext(kernel, "rule");
    assert.equal((await second).case, "success");
    assert.equal((await at.call("wire_money", { to: "bob" })).case, "success");
    const other = at.call("wire_money", { to: "eve" });
    await answerNext(kernel, "deny");
    assert.equal((await other).code, "APPROVAL_DENIED");
    await kernel.revokeApproval({ standingId: standing?.standingId ?? "", by: "ann" });
    const again = at.call("wire_money", { to: "bob" });
    await answerNext(kernel, "deny");
    assert.equal((await again).code, "APPROVAL_DENIED");
    assert.equal(moved, 3);
    assert.equal((await readdir(at.policy)).filter((name) => name.startsWith("approved-")).length, 0);
  });

  it("always is not overridden by another rule's name", async () => {
    const lifting = OPEN.replace(" permit", ' @overrides("ask-monye") permit');
    await assert.rejects(openDefault({ tools: [money("side_effecting")], policies: inCode(`${ALWAYS}\n${lifting}`) }), {
      code: "POLICY_INVALID",
      message: /@overrides names `ask-monye`, which is no rule of this set; did you mean `ask-money`\?/,
    });
  });
});

async function nextQuestion(kernel: SocketKernel) {
  const signal = AbortSignal.timeout(30_000);
  for await (const { open } of kernel.watchApprovals(signal)) if (open[0] !== undefined) return open[0];
  return assert.fail("no question is open");
}

async function answerNext(kernel: SocketKernel, answer: "once" | "rule" | "deny") {
  const { approvalId } = await nextQuestion(kernel);
  return await kernel.resolveApproval({ approvalId, answer, approver: "ann", door: "cli" });
}
