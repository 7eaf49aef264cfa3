import type { Logger, Tool } from "@narthex/kernel";
import { type ResolvedSecrets, readSecrets } from "../secrets/read-secrets.ts";
import type { SecretSources } from "../secrets/secret-source.ts";
import { type AddedTool, addedToolId, isEndpoint, isProgram, isWasm } from "./added-tool.ts";
import type { EndpointPin } from "./endpoint-pin.ts";
import type { ProgramPin } from "./program-pin.ts";
import { createProgramTool } from "./program-tool.ts";
import { reservedNameProblem } from "./reserved-names.ts";
import { listStoredTools, type StoredTool } from "./tool-store.ts";
import { createWasmTool } from "./wasm-tool.ts";

export interface LoadAddedToolsOptions {
  /** Directory in which the home stores its tools. */
  readonly directory: string;
  readonly secrets: SecretSources;
  readonly environment: NodeJS.ProcessEnv;
  readonly builtins: readonly Tool[];
  /** Creates the tool for an endpoint. Throws INVALID_DECLARATION for an endpoint that cannot be called. */
  createEndpointTool(tool: AddedTool<EndpointPin>): Tool;
  /** Names of the kernel's other tools. */
  readonly taken: ReadonlySet<string>;
  readonly logger?: Logger | undefined;
}

export interface AddedTools {
  /** Tools that are ready to be registered. */
  readonly tools: readonly Tool[];
  /** Names of tools that cannot be used now. Policy rules may still refer to them. */
  readonly unusable: readonly string[];
}

/** Loads the tools that were added to the home. Tools that cannot be used are logged and left out. */
export async function loadAddedTools(options: LoadAddedToolsOptions): Promise<AddedTools> {
  const { logger } = options;
  const { tools, problems } = await listStoredTools(options.directory);
  const unusable: string[] = [];
  const leaveOut = (id: string, problem: string): void => {
    unusable.push(id.split("@")[0] ?? id);
    logger?.("error", "an added tool cannot be used", { tool: id, problem });
  };
  for (const { id, message } of problems) leaveOut(id, message);
  const usable = tools.filter((tool) => {
    const problem = nameProblem(tool, options);
    if (problem !== undefined) leaveOut(addedToolId(tool), problem);
    return problem === undefined;
  });
  const programs = usable.filter(isProgram);
  const secrets = await readProgramSecrets(programs, options);
  const endpoints = usable.filter(isEndpoint).flatMap((tool) => {
    try {
      return [options.createEndpointTool(tool)];
    } catch (fault) {
      leaveOut(addedToolId(tool), fault instanceof Error ? fault.message : String(fault));
      return [];
    }
  });
  const modules = usable.filter(isWasm).map(createWasmTool);
  return { tools: [...programs.map((tool) => createProgramTool(tool, secrets)), ...modules, ...endpoints], unusable };
}

function nameProblem({ declaration }: StoredTool, { taken, builtins }: LoadAddedToolsOptions): string | undefined {
  const { name } = declaration;
  return taken.has(name) ? "a tool of this program has its name" : reservedNameProblem(name, builtins);
}

/** Secrets of programs only: secrets of endpoints are read by the egress gate alone. */
async function readProgramSecrets(
  programs: readonly AddedTool<ProgramPin>[],
  { secrets: sources, environment, logger }: LoadAddedToolsOptions,
): Promise<ResolvedSecrets> {
  const wanted = new Set(programs.flatMap(({ pin }) => [...pin.secrets.values()]));
  const secrets = await readSecrets({ sources, names: wanted, environment });
  for (const [name, secret] of secrets) {
    if ("problem" in secret) logger?.("warn", "a secret is not there", { secret: name, problem: secret.problem });
  }
  return secrets;
}
