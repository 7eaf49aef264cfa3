import { shellExec, shellInput, shellKill, shellOutput, shellSpawn } from "./shell/index.ts";
import { bindToPorts, type Tool, markPrevalidated } from "@narthex/kernel";
import { artifactGet, artifactPublish } from "./artifact/index.ts";
import { resultRead } from "./content/index.ts";
import { dbQuery } from "./database/index.ts";
import { echo } from "./echo/index.ts";
import { fileDelete, fileEdit, fileList, fileMove, fileRead, fileWrite, readFile } from "./files/index.ts";
import { gitTool } from "./git/index.ts";
import { hash } from "./hash/index.ts";
import { createInference, type InferenceProvider } from "./inference/index.ts";
import { fileSearch } from "./search/index.ts";
import { vaultCopyTo } from "./vault/index.ts";
import { createWebSearch, httpFetch, webFetch, type WebSearchProvider } from "./web/index.ts";

/** Configured search and inference providers. A tool that needs a provider exists only if one is configured. */
export interface BuiltinProviders {
  readonly search?: readonly WebSearchProvider[];
  readonly inference?: readonly InferenceProvider[];
}

/** Every tool that comes with Narthex, sorted by name. */
export function builtinTools({ search = [], inference = [] }: BuiltinProviders = {}): Tool[] {
  const tools: readonly Tool[] = [
    artifactGet,
    artifactPublish,
    dbQuery,
    echo,
    fileDelete,
    fileEdit,
    fileList,
    fileMove,
    fileRead,
    fileSearch,
    fileWrite,
    gitTool,
    hash,
    httpFetch,
    ...(inference.length > 0 ? [createInference(inference)] : []),
    readFile,
    resultRead,
    shellExec,
    shellInput,
    shellKill,
    shellOutput,
    shellSpawn,
    vaultCopyTo,
    webFetch,
    ...(search.length > 0 ? [createWebSearch(search)] : []),
  ];
  return markPrevalidated(tools.map(bindToPorts));
}
