import type { JsonObject } from "@narthex/contracts";
import type { EndpointPin } from "./endpoint-pin.ts";
import { hashProgram, type ProgramPin } from "./program-pin.ts";
import type { ProgramDeclaration } from "./tool-manifest.ts";

/** What answers when a tool is called. */
export type ToolPin = ProgramPin | EndpointPin;

/** A tool of the kernel's home: its declaration, and its program or endpoint as it was when it was added. */
export interface AddedTool<Pin extends ToolPin = ToolPin> {
  readonly declaration: ProgramDeclaration;
  /** The declaration as its author wrote it: read again, it gives the one above. */
  readonly source: JsonObject;
  readonly pin: Pin;
}

/** A tool on its way into the home: with the bytes of its files, by path. */
export interface CandidateTool<Pin extends ToolPin = ToolPin> extends AddedTool<Pin> {
  readonly bytes: ReadonlyMap<string, Uint8Array>;
}

export function addedToolId({ declaration: { name, version } }: AddedTool): string {
  return `${name}@${version}`;
}

/** Whether it is a program of this machine. */
export function isProgram<Tool extends AddedTool>(tool: Tool): tool is Tool & AddedTool<ProgramPin> {
  return tool.pin.kind !== "http";
}

export function isEndpoint<Tool extends AddedTool>(tool: Tool): tool is Tool & AddedTool<EndpointPin> {
  return tool.pin.kind === "http";
}

export function programHash({ pin }: AddedTool<ProgramPin>): string {
  return hashProgram(pin);
}
