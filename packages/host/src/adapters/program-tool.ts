import { relative } from "node:path";
import { type JsonValue, KernelError, toHex } from "@narthex/contracts";
import {
  bindToPorts,
  type Capability,
  defineTool,
  type ProgramContent,
  type ProgramFile,
  type Redactor,
  type Tool,
  type ToolContext,
  type ToolSession,
  secretRedactor,
} from "@narthex/kernel";
import type { ResolvedSecrets } from "../secrets/read-secrets.ts";
import { type AddedTool, programHash } from "./added-tool.ts";
import type { ProgramPin } from "./program-pin.ts";
import { moduleCommand, moduleContents, moduleFiles } from "./module-program.ts";
import { MAX_RESPONSE_BYTES, ProgramResponse } from "./program-response.ts";
import { readPinnedFile, type StoredTool } from "./tool-store.ts";

type StoredProgram = StoredTool<ProgramPin>;

/** Where a program finds its own files. */
export const PROGRAM_PATH = "/opt/tool";

/** A tool that runs its program in a fresh sandbox for each call, with what its effects give it and no more. */
export function createProgramTool(stored: StoredProgram, secrets: ResolvedSecrets): Tool {
  const { declaration, pin } = stored;
  const { inputSchema, outputSchema, ...rest } = declaration;
  const redactors = redactorsFor(stored, secrets);
  const tool = defineTool({
    ...rest,
    inputSchema: true,
    source: pin.kind,
    isolation: "process",
    changesByPrograms: true,
    ...(redactors.length > 0 && { redactors }),
    needs: (_input, session) => requiredCapabilities(stored, session),
    run: (input, context) => runProgram(stored, secrets, input, context),
  });
  return bindToPorts({ ...tool, inputSchema, outputSchema, program: { hash: programHash(stored) } });
}

/** What an added tool will be to the registry: for whoever has to decide about it before it is kept. */
export function describeCandidate(candidate: AddedTool<ProgramPin>): Tool {
  return createProgramTool({ ...candidate, directory: "" }, new Map());
}

/** The workspace is there as a whole, and whoever may start processes may start any; its hosts are those it names. */
function requiredCapabilities({ declaration }: StoredProgram, { workspace }: ToolSession): Capability[] {
  const { effects, capabilities } = declaration;
  return [
    ...capabilities.filter(({ kind }) => kind === "net_read" || kind === "net_write"),
    ...(effects.includes("fs_read") ? [{ kind: "fs_read", prefixes: [workspace] } as const] : []),
    ...(effects.includes("fs_write") ? [{ kind: "fs_write", prefixes: [workspace] } as const] : []),
    ...(effects.includes("process_spawn") ? [{ kind: "exec", names: ["*"] } as const] : []),
  ];
}

async function runProgram(
  stored: StoredProgram,
  secrets: ResolvedSecrets,
  input: JsonValue,
  context: ToolContext,
): Promise<JsonValue> {
  const { pin, declaration } = stored;
  const { maxMemoryBytes, maxCpuMs } = declaration.bounds;
  const environment = { ...deterministicVariables(stored, context), ...secretVariables(stored, secrets) };
  const answer = new ProgramResponse();
  const isModule = pin.kind === "module";
  const files: readonly ProgramFile[] = isModule ? await moduleFiles() : [];
  const result = await context.programs.run({
    command: isModule ? moduleCommand(pin, PROGRAM_PATH, declaration.name) : commandInside(stored),
    contents: [...(await pinnedContents(stored)), ...(isModule ? moduleContents(PROGRAM_PATH) : [])],
    files,
    workingDirectory: relative(context.session.workspace, context.session.workingDirectory) || ".",
    environment,
    input: Buffer.from(JSON.stringify(input)),
    limits: {
      ...(maxMemoryBytes !== undefined && { memoryBytes: maxMemoryBytes }),
      ...(maxCpuMs !== undefined && { cpuMs: maxCpuMs }),
    },
    maxOutputBytes: MAX_RESPONSE_BYTES,
    // The answer is kept as the result; what it says besides is worth keeping for whoever looks for a mistake.
    kept: ["stderr"],
    isShown: false,
    onPrinted: (stream, chunk) => answer.take(stream, chunk),
  });
  return answer.read(result);
}

async function pinnedContents(stored: StoredProgram): Promise<ProgramContent[]> {
  return await Promise.all(
    stored.pin.files.map(async (file) => ({
      target: `${PROGRAM_PATH}/${file.path}`,
      bytes: await readPinnedFile(stored, file),
      isExecutable: file.isExecutable,
    })),
  );
}

function commandInside({ pin }: StoredProgram): string[] {
  return pin.command.map((word) => ("file" in word ? `${PROGRAM_PATH}/${word.file}` : word.word));
}

/** The call's own time and random stream, for programs that promise the same answer every time. */
function deterministicVariables({ declaration }: StoredProgram, context: ToolContext): Record<string, string> {
  if (declaration.determinism !== "deterministic") return {};
  return { NARTHEX_NOW_MS: String(context.nowMs()), NARTHEX_SEED: toHex(context.randomBytes(32)) };
}

/** SECURITY: a tool whose secret could not be read does not run without it. */
function secretVariables({ pin }: StoredProgram, secrets: ResolvedSecrets): Record<string, string> {
  return Object.fromEntries(
    [...pin.secrets].map(([variable, name]) => {
      const found = secrets.get(name) ?? { problem: "narthex.yaml does not name it" };
      if ("value" in found) return [variable, found.value];
      throw new KernelError("EXECUTION_FAILED", `the secret \`${name}\` is not there: ${found.problem}`);
    }),
  );
}

function redactorsFor({ pin }: StoredProgram, secrets: ResolvedSecrets): Redactor[] {
  return [...new Set(pin.secrets.values())].flatMap((name) => {
    const found = secrets.get(name);
    return found !== undefined && "value" in found ? [secretRedactor(name, found.value)] : [];
  });
}
