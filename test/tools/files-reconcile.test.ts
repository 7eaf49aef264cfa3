import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { blake3, isJsonObject, type JsonObject, parseJson, toHex } from "@narthex/contracts";
import { createKernel, type NarthexKernel } from "narthex";
import { kernelProgram } from "../built/kernel-program.ts";
import { sampled } from "../sampled.ts";
import { codeOf } from "./file-kernel.ts";

const CRASHING = new URL("./crashing-file-kernel.ts", import.meta.url);
const hashOf = (content: string): string => toHex(blake3(Buffer.from(content)));

/** Files before, the call, and what its tool answers of itself once it is asked; undefined where it cannot tell. */
const CASES: readonly (readonly [
  string,
  JsonObject,
  { readonly after: JsonObject | undefined; readonly before?: "unknown" },
])[] = [
  [
    "file_write",
    { path: "a", content: "new" },
    { after: { bytes: 3, created: null, hash_after: hashOf("new"), hash_before: null } },
  ],
  [
    "file_write",
    { path: "made/new", content: "bmV3", encoding: "base64", create_only: true },
    { after: { bytes: 3, created: null, hash_after: hashOf("new"), hash_before: null } },
  ],
  ["file_write", { path: "a", content: "x", append: true }, { after: undefined, before: "unknown" }],
  [
    "file_edit",
    { path: "a", old_content: "old", new_content: "edited" },
    { after: { hash_after: hashOf("edited a"), hash_before: null, lines: [] } },
  ],
  ["file_edit", { path: "a", old_content: "old", new_content: "older" }, { after: undefined }],
  ["file_delete", { path: "a" }, { after: { count: null, deleted: ["a"] } }],
  ["file_delete", { path: "d", recursive: true }, { after: { count: null, deleted: ["d"] }, before: "unknown" }],
  ["file_move", { source: "a", destination: "b/c" }, { after: { destination: "b/c", replaced: null, source: "a" } }],
];

/** A call that had done nothing is the same for all tools but those that cannot tell. */
const CASES_BEFORE = sampled(CASES, 3);

describe("a kernel that died in a file tool's call", { timeout: 240_000, concurrency: 2 }, () => {
  for (const one of CASES) {
    const [tool, input, { after, before = "did_not_happen" }] = one;
    for (const crashAt of ["invoke", "keep"] as const) {
      if (crashAt === "invoke" && !CASES_BEFORE.includes(one)) continue;
      const when = crashAt === "invoke" ? "before anything was done" : "after it was done";
      it(`${when}: ${tool} ${JSON.stringify(input)}`, async (context) => {
        const root = await mkdtemp(join(tmpdir(), "narthex-lost-"));
        const opened: NarthexKernel[] = [];
        context.after(async () => {
          // It still writes to the home that is taken away then.
          for (const kernel of opened) await kernel.close({ graceMs: 0 });
          await rm(root, { recursive: true, force: true, maxRetries: 5 });
        });
        const workspace = await prepareWorkspace(root);
        const words = kernelProgram(CRASHING, join(root, "home"), workspace, tool, JSON.stringify(input), crashAt);
        const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
        const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
        assert.equal(signal, "SIGKILL");
        const token = said.trim();

        const kernel = await createKernel({ data: join(root, "home") });
        opened.push(kernel);
        const left = await readdir(workspace, { recursive: true });
        const ask = () => kernel.callInProcess({ token, tool, input, requestId: "lost" });
        const { response } = await ask();
        const isUnknown = crashAt === "invoke" ? before === "unknown" : after === undefined;
        assert.equal((await kernel.listIntents()).length, isUnknown ? 1 : 0);
        if (isUnknown) assert.equal(codeOf(response.result), "OUTCOME_UNKNOWN");
        else if (crashAt === "keep") {
          const { result } = response;
          assert.ok(result.case === "success", result.case);
          const told = parseJson(result.value.inlineResult);
          assert.ok(isJsonObject(told));
          assert.deepEqual(told, after);
          assert.deepEqual(await readdir(workspace, { recursive: true }), left, "it was not done again");
        } else assert.equal(response.result.case, "success", "it had not happened, so it is done now");
      });
    }
  }
});

async function prepareWorkspace(root: string): Promise<string> {
  await chmod(root, 0o755);
  const workspace = join(root, "workspace");
  for (const [path, content] of [
    ["a", "old a"],
    ["d/e", "e"],
  ] as const) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), content);
  }
  if (process.getuid?.() === 0) {
    for (const path of ["", "a", "d", "d/e"]) await chown(join(workspace, path), 1000, 1000);
  }
  return workspace;
}
