import type { Log, Tool } from "@narthex/kernel";
import { readSecrets } from "../secrets/read-secrets.ts";
import type { SecretSources } from "../secrets/secret-source.ts";
import { addedToolId } from "./added-tool.ts";
import { createProgramTool } from "./program-tool.ts";
import { reservedNameProblem } from "./reserved-names.ts";
import { listStoredTools } from "./tool-store.ts";

export interface LoadAddedToolsOptions {
  /** Where the home keeps them. */
  readonly directory: string;
  readonly secrets: SecretSources;
  readonly environment: NodeJS.ProcessEnv;
  readonly builtins: readonly Tool[];
  /** Names of other tools that this kernel has. */
  readonly taken: ReadonlySet<string>;
  readonly log?: Log | undefined;
}

export interface AddedTools {
  /** Ready to be registered. */
  readonly tools: readonly Tool[];
  /** Names of those that cannot be used now, and that rules may speak of all the same. */
  readonly unusable: readonly string[];
}

/** The tools that were added to the home. What cannot be used is said and left out. */
export async function loadAddedTools(options: LoadAddedToolsOptions): Promise<AddedTools> {
  const { builtins, taken, log } = options;
  const { tools, problems } = await listStoredTools(options.directory);
  for (const { id, message } of problems)
    log?.("error", "an added tool cannot be used", { tool: id, problem: message });
  const usable = tools.filter((tool) => {
    const { name } = tool.declaration;
    const problem = taken.has(name) ? "a tool of this program has its name" : reservedNameProblem(name, builtins);
    if (problem !== undefined) log?.("error", "an added tool cannot be used", { tool: addedToolId(tool), problem });
    return problem === undefined;
  });
  const wanted = new Set(usable.flatMap(({ pin }) => [...pin.secrets.values()]));
  const secrets = await readSecrets({ sources: options.secrets, wanted, environment: options.environment });
  for (const [name, secret] of secrets) {
    if ("problem" in secret) log?.("warn", "a secret is not there", { secret: name, problem: secret.problem });
  }
  const broken = problems.map(({ id }) => id.split("@")[0] ?? id);
  const refused = tools.filter((tool) => !usable.includes(tool)).map(({ declaration }) => declaration.name);
  return { tools: usable.map((tool) => createProgramTool(tool, secrets)), unusable: [...broken, ...refused] };
}
