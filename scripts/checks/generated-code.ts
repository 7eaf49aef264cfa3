import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CheckResult, failed, passed } from "./check.ts";
import { runProcess } from "./run-process.ts";
import { REPOSITORY, runTool } from "./run-tool.ts";

const BUF = "@bufbuild/buf/bin/buf";
const GENERATED = "packages/contracts/src/gen";

/** Checks that proto/ is valid for two compilers, and that the generated code in the repository is up to date. */
export async function checkGeneratedCode(): Promise<CheckResult> {
  const lint = await runTool(BUF, ["lint"]);
  if (lint.code !== 0) return failed(lint.output);
  const scratch = await mkdtemp(join(tmpdir(), "narthex-generated-"));
  try {
    const generate = await runTool(BUF, ["generate", "--output", scratch]);
    if (generate.code !== 0) return failed(generate.output);
    const stale = await listDifferences(join(REPOSITORY, GENERATED), join(scratch, GENERATED));
    if (stale.length > 0) return failed(`not what proto/ generates (run npm run generate):\n${stale.join("\n")}`);
    return await compileAgain(join(scratch, "descriptors"));
  } finally {
    await rm(scratch, { recursive: true });
  }
}

async function listDifferences(present: string, expected: string): Promise<string[]> {
  const presentFiles = await readTree(present);
  const expectedFiles = await readTree(expected);
  const names = new Set([...presentFiles.keys(), ...expectedFiles.keys()]);
  return [...names].filter((name) => presentFiles.get(name) !== expectedFiles.get(name)).sort();
}

async function readTree(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(files.map(async (file) => [file.slice(folder.length), await readFile(file, "utf8")] as const)),
  );
}

async function compileAgain(output: string): Promise<CheckResult> {
  const files = (await readdir(join(REPOSITORY, "proto"), { recursive: true })).filter((file) =>
    file.endsWith(".proto"),
  );
  const protoc = await runProcess(
    "protoc",
    ["--proto_path=proto", `--descriptor_set_out=${output}`, ...files],
    REPOSITORY,
  );
  if (protoc.code === 127) return passed("without protoc, which is not installed");
  return protoc.code === 0 ? passed() : failed(protoc.output);
}
