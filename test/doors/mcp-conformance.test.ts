import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openConformanceKernel } from "./mcp/conformance-kernel.ts";

const SUITE = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));

/** Scenarios about what a tool kernel does not have. The suite fails on an entry that passes. */
const EXPECTED_FAILURES: ReadonlyMap<string, string> = new Map([
  ["logging-set-level", "no log messages are sent to clients: what happened stands in the ledger"],
  ["tools-call-with-logging", "no log messages are sent to clients"],
  ["completion-complete", "there are no prompts and no resource arguments to complete"],
  ["tools-call-embedded-resource", "results are linked as resources, not embedded"],
  ["tools-call-mixed-content", "a tool has one result, not a list of contents of several kinds"],
  ["tools-call-sampling", "a tool cannot ask its caller's model: inference is a tool of its own, under policy"],
  ["elicitation-sep1034-defaults", "only approvals are asked for, with a form of the kernel's own"],
  ["elicitation-sep1330-enums", "only approvals are asked for, with a form of the kernel's own"],
  ["server-sse-polling", "it names revision 2025-03-26 and expects the stream events of 2025-11-25"],
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

test("the official suite's server scenarios pass but for those that are not a kernel's matter", async () => {
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
