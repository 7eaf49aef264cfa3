import type { ConfigurationEdit, MemberEdit } from "./configuration-edit.ts";
import type { ClientVersions } from "./client-version.ts";
import type { ProgramLine } from "./program-line.ts";

/** The workspace and settings that a client is connected with. */
export interface ConnectContext {
  /** Real path. */
  readonly workspace: string;
  /** Hand over a workspace owned by root to the user that tools run as. */
  readonly adopt: boolean;
  /** Returns `narthex WORDS` as a client starts it. */
  line(...words: readonly string[]): ProgramLine;
  /** Whether the workspace has a file of this name. */
  has(name: string): boolean;
}

/** A coding client with a built-in agent. */
export interface Client {
  readonly title: string;
  /** Name of the agent in its session. */
  readonly agent: string;
  /** The configuration files that the client needs. */
  files(setting: ConnectContext): readonly ClientFile[];
  /** Machine-specific files that the client writes once it is connected; they are kept out of commits, too. */
  readonly ownFiles?: readonly string[];
  /** The client's own tools that this switches off, in a few words. */
  readonly switchedOff: string;
  /** What no workspace configuration can switch off, in plain words. */
  readonly limitations: readonly string[];
  /** What the user does next in the client: first dialogs, then use without a terminal. */
  next(setting: ConnectContext): readonly string[];
  /** Undefined for a client without a command that prints its version. */
  readonly versions?: ClientVersions;
}

/** A file of the workspace: either JSON or TOML with certain values, or a file that narthex owns as a whole. */
export type ClientFile =
  | { readonly name: string; readonly format?: "json"; readonly edits: readonly ConfigurationEdit[] }
  | { readonly name: string; readonly format: "toml"; readonly edits: readonly MemberEdit[] }
  | { readonly name: string; readonly whole: string };
