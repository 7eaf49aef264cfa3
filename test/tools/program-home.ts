import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import { type CandidateTool, findTools, storeTool } from "@narthex/host";
import { createKernel, type SocketKernel, type SocketSession } from "../doors/socket-kernel.ts";

type Result = Awaited<ReturnType<SocketSession["call"]>>;

/** A home into which tools are put before its kernel starts, and a workspace for one session. */
export interface ProgramHome {
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
  /** Writes files into a directory of their own and answers its path. */
  write(files: Readonly<Record<string, string>>): Promise<string>;
  /** Adds what lies at a path. */
  add(path: string): Promise<readonly CandidateTool[]>;
  /** Adds a Python program as a tool; what is said of it goes beside what every tool must say. */
  addPython(name: string, program: string, declared?: JsonObject): Promise<CandidateTool>;
  configure(yaml: string): Promise<void>;
  /** Permits the tools that were added, and what these further rules permit. */
  start(moreRules?: string): Promise<void>;
  readonly kernel: SocketKernel;
  call(tool: string, input?: JsonValue): Promise<Result>;
  stop(): Promise<void>;
  remove(): Promise<void>;
}

export async function createProgramHome(): Promise<ProgramHome> {
  const root = await mkdtemp(join(tmpdir(), "narthex-programs-"));
  const [home, workspace, tools] = [join(root, "home"), join(root, "workspace"), join(root, "tools")];
  for (const directory of [home, workspace, tools]) await mkdir(directory, { mode: 0o700 });
  await chmod(root, 0o755);
  // As root, programs work as whoever owns the workspace, who must not be root.
  if (process.getuid?.() === 0) await chown(workspace, 1000, 1000);
  const names = new Set<string>();
  let started: { kernel: SocketKernel; session: SocketSession } | undefined;
  let written = 0;

  const running = (): { kernel: SocketKernel; session: SocketSession } => {
    assert.ok(started, "the kernel was not started");
    return started;
  };

  const at: ProgramHome = {
    root,
    home,
    workspace,
    async write(files) {
      const directory = join(tools, String(++written));
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(directory, name)), { recursive: true });
        await writeFile(join(directory, name), text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
      }
      return directory;
    },
    async add(path) {
      const { tools: found } = await findTools(path);
      for (const tool of found) {
        await storeTool(join(home, "tools"), tool, { replace: true });
        names.add(tool.declaration.name);
      }
      return found;
    },
    async addPython(name, program, declared = {}) {
      const manifest = { ...PYTHON, name, description: `Runs ${name}.`, ...declared };
      const directory = await at.write({ "tool.json": JSON.stringify(manifest), "tool.py": program });
      const [tool] = await at.add(join(directory, "tool.json"));
      assert.ok(tool);
      return tool;
    },
    configure: (yaml) => writeFile(join(home, "narthex.yaml"), yaml, { mode: 0o600 }),
    async start(moreRules = "") {
      const rules = [...names].map(
        (name) => `@id("${name}") permit(principal, action == Action::"${name}", resource);`,
      );
      const kernel = await createKernel({
        data: home,
        policies: [{ name: "own.cedar", text: [...rules, moreRules].join("\n") }],
      });
      started = { kernel, session: await kernel.session({ workspace }) };
    },
    get kernel() {
      return running().kernel;
    },
    call: (tool, input = {}) => running().session.call(tool, input),
    async stop() {
      await started?.kernel.close({ graceMs: 0 });
      started = undefined;
    },
    async remove() {
      await at.stop();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return at;
}

const PYTHON: JsonObject = {
  version: "1.0.0",
  command: ["python3", "./tool.py"],
  input_schema: true,
  effects: [],
  determinism: "nondeterministic",
  tier: "side_effecting",
};

/** The code and message of a call that failed. */
export function failureOf(result: Result): { readonly code: string; readonly message: string } {
  const { response } = result;
  assert.equal(response.result.case, "error", JSON.stringify(result.raw ?? null));
  const { errorCode, message } = response.result.value as { errorCode: string; message: string };
  return { code: errorCode, message };
}

/** What a call that went well answered. */
export function answerOf(result: Result): JsonValue {
  const { response, raw } = result;
  const { value } = response.result;
  assert.equal(response.result.case, "success", value !== undefined && "message" in value ? value.message : "");
  return raw as JsonValue;
}
