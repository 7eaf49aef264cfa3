import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  type ContentRole,
  fromBinary,
  type JsonObject,
  type JsonValue,
  RecordContentSchema,
  RecordSchema,
  type WasmUse,
} from "@narthex/contracts";
import { createProgramHome, type ProgramHome } from "../tools/program-home.ts";

const run = promisify(execFile);

/** What every module here declares unless a test says otherwise. */
const DECLARED = {
  version: "1.0.0",
  description: "Does what it is told.",
  input_schema: true,
  effects: [],
  determinism: "pure",
  tier: "read_only",
  preset: "minimal",
  // A host is started with the first call, and the machine may be busy.
  bounds: { timeout_ms: 60_000 },
} satisfies JsonObject;

export interface WasmHome {
  readonly at: ProgramHome;
  /** Puts a module and its manifest into a directory of their own, and answers the module's path. */
  writeModule(module: Uint8Array, declared: JsonObject): Promise<string>;
  /** Adds the module that does what its input says, declared as this. */
  addProbe(name: string, declared?: JsonObject): Promise<void>;
  /** What the outcome of the latest call says of its module. */
  lastUse(): Promise<WasmUse>;
  /** The texts that the latest call left in this role. */
  lastContent(role: ContentRole): Promise<readonly string[]>;
  /** The kinds of all entries of the latest call. */
  lastEntries(): Promise<readonly string[]>;
}

export async function createWasmHome(): Promise<WasmHome> {
  const at = await createProgramHome();
  let modules = 0;
  const probe = assemble(await readFile(new URL("probe.wat", import.meta.url), "utf8"));

  async function lastOutcome(): Promise<{ readonly kinds: string[]; readonly wasm: WasmUse | undefined }> {
    const records = await at.kernel.listRecords({ limit: 1000 });
    const decoded = records.map(({ record }) => fromBinary(RecordSchema, record));
    const request = decoded.findLast(({ requestId }) => requestId !== "")?.requestId;
    const entries = decoded.flatMap((record) => (record.requestId === request ? record.entries : []));
    const kinds = entries.map(({ kind }) => kind.case ?? "");
    const outcome = entries.at(-1)?.kind.value;
    return { kinds, wasm: outcome?.$typeName === "narthex.v1.Outcome" ? outcome.wasm : undefined };
  }

  const home: WasmHome = {
    at,
    async writeModule(module, declared) {
      const directory = join(at.root, "modules", String(++modules));
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, "tool.json"), JSON.stringify({ ...DECLARED, ...declared }));
      await writeFile(join(directory, "tool.wasm"), module);
      return join(directory, "tool.wasm");
    },
    async addProbe(name, declared = {}) {
      await at.add(await home.writeModule(await probe, { name, ...declared }));
    },
    async lastUse() {
      const { wasm } = await lastOutcome();
      assert.ok(wasm, "the outcome says nothing of a module");
      return wasm;
    },
    async lastContent(role) {
      const records = await at.kernel.listRecords({ limit: 1000 });
      const last = records.findLast(({ record }) => fromBinary(RecordSchema, record).requestId !== "");
      const { items } = fromBinary(RecordContentSchema, last?.content ?? new Uint8Array(0));
      return items.filter((item) => item.role === role).map(({ data }) => Buffer.from(data).toString());
    },
    lastEntries: async () => (await lastOutcome()).kinds,
  };
  return home;
}

/** Turns the text of a module into its bytes, with wabt, checked by nobody: tests want invalid ones too. */
export async function assemble(text: string, ...flags: readonly string[]): Promise<Uint8Array> {
  const child = run("wat2wasm", ["-", "--output=-", ...flags], { encoding: "buffer", maxBuffer: 64 * 1024 * 1024 });
  child.child.stdin?.end(text);
  const { stdout } = await child;
  return new Uint8Array(stdout);
}

/** What the probe is told: what to do, a number for it, and a text. */
export function tell(mode: string, code = 0, text = ""): JsonValue {
  return [mode, code, text];
}

/** What the probe gave in hex, as text. */
export function unhex(answer: JsonValue): string {
  assert.equal(typeof answer, "string", JSON.stringify(answer));
  return Buffer.from(String(answer), "hex").toString();
}
