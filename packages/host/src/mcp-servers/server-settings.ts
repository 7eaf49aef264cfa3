import type { Effect, SafetyTier } from "@narthex/kernel";

/** What the configuration says of one MCP server. */
export interface ServerSettings {
  readonly name: string;
  /** Where it is asked, if it does not run here. Then there is nothing of a program below. */
  readonly url?: string;
  readonly command: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  /** Names of secrets, by the variable or the header in which the server finds them. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Files and directories of the host that are there too, read-only, under the same names. */
  readonly files: readonly string[];
  /** The most that any of its tools gets of a session's workspace. */
  readonly workspace: WorkspaceAccess;
  /** What its tools count as. */
  readonly defaultProfile: ToolProfile;
  /** The same of single tools, by the names that the server has for them. */
  readonly tools: ReadonlyMap<string, ToolProfile>;
}

export type WorkspaceAccess = "none" | "read" | "write";

/** What is left out is the most that there is. */
export interface ToolProfile {
  readonly tier?: SafetyTier;
  readonly effects?: readonly Effect[];
  readonly timeoutMs?: number;
}

/** By name. */
export type ServersSettings = ReadonlyMap<string, ServerSettings>;
