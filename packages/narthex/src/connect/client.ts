import type { ConfigurationEdit } from "./configuration-edit.ts";
import type { ProgramLine } from "./program-line.ts";

/** Where narthex is put in front of an agent. */
export interface ClientSetting {
  /** Real path. */
  readonly workspace: string;
  /** `narthex WORDS`, as a client starts it. */
  line(...words: readonly string[]): ProgramLine;
}

/** A program for people that has an agent in it. */
export interface Client {
  readonly title: string;
  /** What the session of its agent is called. */
  readonly agent: string;
  /** What its configuration is to hold. */
  files(setting: ClientSetting): readonly ClientFile[];
  /** What this switches off, in a few words. */
  readonly switchedOff: string;
  /** What no configuration of a workspace switches off, plainly. */
  readonly stays: readonly string[];
  /** What the person does next in it. */
  readonly next: string;
}

/** A file of the workspace: JSON that holds certain things, or a file that is narthex's as a whole. */
export type ClientFile =
  | { readonly name: string; readonly edits: readonly ConfigurationEdit[] }
  | { readonly name: string; readonly whole: string };
