import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Debian's compiler. */
export const PROTOC = "protoc";
export const PROTO = fileURLToPath(new URL("../../proto", import.meta.url));

const MESSAGES = ["tool", "kernel", "ledger", "admin"].map((name) => `narthex/v1/${name}.proto`);
/** Debian's plugin for stubs is older than `optional` in proto3, which `admin.proto` uses. */
const STUBS = "narthex/v1/kernel.proto";

/** Python modules of `proto/`, made by Debian's compilers in a new directory that the caller removes. */
export function compileProto(): string {
  const directory = mkdtempSync(join(tmpdir(), "narthex-proto-"));
  run(PROTOC, ["-I", PROTO, `--python_out=${directory}`, ...MESSAGES]);
  run("/usr/bin/python3", ["-m", "grpc_tools.protoc", "-I", PROTO, `--grpc_python_out=${directory}`, STUBS]);
  return directory;
}

function run(program: string, programArguments: readonly string[]): void {
  execFileSync(program, programArguments, { stdio: ["ignore", "inherit", "inherit"] });
}
