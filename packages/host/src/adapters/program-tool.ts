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

/** Directory inside the sandbox that holds the program's files. */
export const PROGRAM_PATH = "/opt/tool";

/**
 * Creates a tool that runs its program in a fresh sandbox for each call, with the access that its effects grant and no
 * more.
 */
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

/** Describes a tool as the registry will see it, so that it can be reviewed before it is stored. */
export function describeCandidate(candidate: AddedTool<ProgramPin>): Tool {
  return createProgramTool({ ...candidate, directory: "" }, new Map());
}

/**
 * The sandbox shows the whole workspace, and a program that may start processes may start any. Hosts are limited to
 * those declared.
 */
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
    // stdout becomes the result of the call; stderr is kept for debugging.
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

/** The call's own time and a seed from its random stream, for programs that declare deterministic results. */
function deterministicVariables({ declaration }: StoredProgram, context: ToolContext): Record<string, string> {
  if (declaration.determinism !== "deterministic") return {};
  return { NARTHEX_NOW_MS: String(context.nowMs()), NARTHEX_SEED: toHex(context.randomBytes(32)) };
}

/** SECURITY: a tool does not run without a secret that could not be read. */
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
