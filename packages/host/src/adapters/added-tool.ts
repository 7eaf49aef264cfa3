import type { JsonObject } from "@narthex/contracts";
import { hashProgram, type ProgramPin } from "./program-pin.ts";
import type { ProgramDeclaration } from "./tool-manifest.ts";

/** A tool of the kernel's home: its declaration, and its program as it was when it was added. */
export interface AddedTool {
  readonly declaration: ProgramDeclaration;
  /** The declaration as its author wrote it: read again, it gives the one above. */
  readonly source: JsonObject;
  readonly pin: ProgramPin;
}

/** A tool on its way into the home: with the bytes of its files, by path. */
export interface CandidateTool extends AddedTool {
  readonly bytes: ReadonlyMap<string, Uint8Array>;
}

export function addedToolId({ declaration: { name, version } }: AddedTool): string {
  return `${name}@${version}`;
}

export function programHash({ pin }: AddedTool): string {
  return hashProgram(pin);
}
