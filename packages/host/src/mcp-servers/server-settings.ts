import type { Effect, SafetyTier } from "@narthex/kernel";

/** Configuration of one MCP server. */
export interface ServerSettings {
  readonly name: string;
  /** URL of a remote server; the program settings below are empty then. */
  readonly url?: string;
  readonly command: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  /** Names of secrets by the environment variable or header that carries the value. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Files and directories of the host that the server sees read-only, at the same paths. */
  readonly files: readonly string[];
  /** Maximum access of its tools to the workspace of a session. */
  readonly workspace: WorkspaceAccess;
  /** Profile of all its tools. */
  readonly defaultProfile: ToolProfile;
  /** Profiles of single tools, by the names that the server uses. */
  readonly tools: ReadonlyMap<string, ToolProfile>;
}

export type WorkspaceAccess = "none" | "read" | "write";

/** Settings that are absent default to the most that is possible. */
export interface ToolProfile {
  readonly tier?: SafetyTier;
  readonly effects?: readonly Effect[];
  readonly timeoutMs?: number;
}

/** Servers by name. */
export type ServersSettings = ReadonlyMap<string, ServerSettings>;
