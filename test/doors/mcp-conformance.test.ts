import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { kernelProgram } from "../built/kernel-program.ts";
import { sampled } from "../sampled.ts";
import { openConformanceKernel } from "./mcp/conformance-kernel.ts";

const SUITE = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));

/** Server scenarios that fail, and why. The suite fails on an entry that passes. */
const EXPECTED_FAILURES: ReadonlyMap<string, string> = new Map([
  ["logging-set-level", "no log messages are sent to clients: what happened stands in the ledger"],
  ["tools-call-with-logging", "no log messages are sent to clients"],
  ["completion-complete", "there are no prompts and no resource arguments to complete"],
  ["tools-call-embedded-resource", "results are linked as resources, not embedded"],
  ["tools-call-mixed-content", "a tool has one result, not a list of contents of several kinds"],
  ["tools-call-sampling", "a tool cannot ask its caller's model: inference is a tool of its own, under policy"],
  ["elicitation-sep1034-defaults", "only approvals are asked for, with a form of the kernel's own"],
  ["elicitation-sep1330-enums", "only approvals are asked for, with a form of the kernel's own"],
  // It has no failures but two warnings, which the suite counts as such.
  ["server-sse-polling", "no stream can be resumed: the priming event and the retry field of 2025-11-25 are not sent"],
  ["resources-read-text", "resources are contents by hash; there is none at an address of the suite's own"],
  ["resources-read-binary", "resources are contents by hash; there is none at an address of the suite's own"],
  ["resources-templates-read", "the only template is that of contents by hash"],
  ["resources-subscribe", "contents by hash never change"],
  ["resources-unsubscribe", "contents by hash never change"],
  ["prompts-list", "a tool kernel has no prompts"],
  ["prompts-get-simple", "a tool kernel has no prompts"],
  ["prompts-get-with-args", "a tool kernel has no prompts"],
  ["prompts-get-embedded-resource", "a tool kernel has no prompts"],
  ["prompts-get-with-image", "a tool kernel has no prompts"],
]);

const NO_OAUTH = "a server that asks for OAuth is refused with its status: credentials are configured as secrets";
const NO_FORMS = "servers cannot ask a person: no elicitation is announced, and the suite's server asks all the same";

/** Client scenarios, and why they fail if they do. */
const CLIENT_SCENARIOS: ReadonlyMap<string, string | undefined> = new Map<string, string | undefined>([
  ["initialize", undefined],
  ["tools_call", undefined],
  ["sse-retry", undefined],
  ["elicitation-sep1034-client-defaults", NO_FORMS],
]);

/** Scenarios that begin with a 401 and end there; a client that speaks no OAuth accepts no wrong resource either. */
const RESOURCE_MISMATCH = "auth/resource-mismatch";
const OAUTH_SCENARIOS = [
  "resource-mismatch",
  "metadata-var1",
  "metadata-var2",
  "metadata-var3",
  "basic-cimd",
  "pre-registration",
  "scope-from-www-authenticate",
  "scope-from-scopes-supported",
  "scope-omitted-when-undefined",
  "scope-step-up",
  "scope-retry-limit",
  "token-endpoint-auth-basic",
  "token-endpoint-auth-post",
  "token-endpoint-auth-none",
  "2025-03-26-oauth-metadata-backcompat",
  "2025-03-26-oauth-endpoint-fallback",
  "offline-access-scope",
  "offline-access-not-supported",
  "client-credentials-jwt",
  "client-credentials-basic",
  "cross-app-access-complete-flow",
  "metadata-default",
].map((name) => `auth/${name}`);

const CLIENT = new URL("./mcp/conformance-client.ts", import.meta.url);

test("the official suite's server scenarios pass except those listed with a reason", async () => {
  const kernel = await openConformanceKernel();
  const directory = await mkdtemp(join(tmpdir(), "narthex-conformance-"));
  const baseline = join(directory, "expected.yaml");
  const scenarios = [...EXPECTED_FAILURES.keys()];
  await writeFile(baseline, `server:\n${scenarios.map((name) => `  - ${name}\n`).join("")}`);
  try {
    const args = ["server", "--url", kernel.url, "--suite", "all", "--expected-failures", baseline];
    const { stdout } = await promisify(execFile)(process.execPath, [SUITE, ...args], { cwd: directory });
    assert.match(stdout, /dns-rebinding-protection/);
  } catch (failure) {
    if (!(failure instanceof Error) || !("stdout" in failure)) throw failure;
    assert.fail(String(failure.stdout));
  } finally {
    await kernel.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("the official suite's client scenarios pass except those listed with a reason", async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [SUITE, "list"]);
  const [, listed = ""] = stdout.split(/^Client scenarios.*$/m);
  const known = [...CLIENT_SCENARIOS.keys(), ...OAUTH_SCENARIOS];
  assert.deepEqual(new Set([...listed.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name)), new Set(known));
  const cases = [...CLIENT_SCENARIOS, ...sampled(OAUTH_SCENARIOS, 1).map((name) => [name, NO_OAUTH] as const)];
  for (const [scenario, reason] of cases) {
    await t.test(scenario, async () => {
      const { isPassed, checks, said } = await runClient(scenario);
      assert.equal(
        isPassed,
        reason === undefined || scenario === RESOURCE_MISMATCH,
        `${said}${JSON.stringify(checks)}`,
      );
      // The suite passes a client that did nothing at all.
      if (isPassed) assert.ok(checks.some(({ status }) => status === "SUCCESS"));
      if (reason === NO_OAUTH) assert.match(said, /it answered with status 401/);
      if (reason === NO_FORMS) assert.match(said, /^suite__test_client_elicitation_defaults error/m);
    });
  }
});

interface ClientCheck {
  readonly status: string;
  readonly details?: { readonly tooEarly?: boolean };
}

interface ClientRun {
  readonly isPassed: boolean;
  readonly checks: readonly ClientCheck[];
  /** The client's own output. */
  readonly said: string;
}

async function runClient(scenario: string): Promise<ClientRun> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-conformance-"));
  try {
    const command = [process.execPath, ...kernelProgram(CLIENT)].join(" ");
    const args = ["client", "--command", command, "--scenario", scenario, "--output-dir", directory];
    // It exits with 1 where a check failed, and the checks are read below.
    await promisify(execFile)(process.execPath, [SUITE, ...args]).catch(() => undefined);
    const files = await readdir(directory, { recursive: true });
    const read = (name: string): Promise<string> =>
      readFile(join(directory, files.find((file) => file.endsWith(name)) ?? assert.fail(`no ${name}`)), "utf8");
    const checks = JSON.parse(await read("checks.json")) as ClientRun["checks"];
    return { isPassed: checks.every(holds), checks, said: await read("stdout.txt") };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Reconnecting late, on a busy machine, is no fault; too early is one. */
function holds({ status, details }: ClientCheck): boolean {
  return status === "SUCCESS" || status === "INFO" || details?.tooEarly === false;
}
