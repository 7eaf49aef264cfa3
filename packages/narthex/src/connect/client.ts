import type { ConfigurationEdit, MemberEdit } from "./configuration-edit.ts";
import type { ClientVersions } from "./client-version.ts";
import type { ProgramLine } from "./program-line.ts";

/** Where narthex is put in front of an agent. */
export interface ConnectContext {
  /** Real path. */
  readonly workspace: string;
  /** Hand a workspace of root's to the user that tools run as. */
  readonly adopt: boolean;
  /** `narthex WORDS`, as a client starts it. */
  line(...words: readonly string[]): ProgramLine;
  /** Whether the workspace has a file of this name. */
  has(name: string): boolean;
}

/** A program for people that has an agent in it. */
export interface Client {
  readonly title: string;
  /** What the session of its agent is called. */
  readonly agent: string;
  /** What its configuration is to hold. */
  files(setting: ConnectContext): readonly ClientFile[];
  /** Files for this machine that the client itself writes once it is connected: they stay out of commits, too. */
  readonly ownFiles?: readonly string[];
  /** What this switches off, in a few words. */
  readonly switchedOff: string;
  /** What no configuration of a workspace switches off, plainly. */
  readonly limitations: readonly string[];
  /** What the person does next in it: dialogs, then use without a terminal. */
  next(setting: ConnectContext): readonly string[];
  /** Undefined for a client that has no command to ask. */
  readonly versions?: ClientVersions;
}

/** A file of the workspace: JSON or TOML that holds certain things, or a file that is narthex's as a whole. */
export type ClientFile =
  | { readonly name: string; readonly format?: "json"; readonly edits: readonly ConfigurationEdit[] }
  | { readonly name: string; readonly format: "toml"; readonly edits: readonly MemberEdit[] }
  | { readonly name: string; readonly whole: string };
