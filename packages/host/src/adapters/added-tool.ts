import type { JsonObject } from "@narthex/contracts";
import type { EndpointPin } from "./endpoint-pin.ts";
import { hashProgram, type PinnedFile, type ProgramPin } from "./program-pin.ts";
import type { ProgramDeclaration } from "./tool-manifest.ts";
import type { WasmPin } from "./wasm-pin.ts";

/** What answers when a tool is called. */
export type ToolPin = ProgramPin | EndpointPin | WasmPin;

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
  return tool.pin.kind === "subprocess" || tool.pin.kind === "module";
}

export function isEndpoint<Tool extends AddedTool>(tool: Tool): tool is Tool & AddedTool<EndpointPin> {
  return tool.pin.kind === "http";
}

export function isWasm<Tool extends AddedTool>(tool: Tool): tool is Tool & AddedTool<WasmPin> {
  return tool.pin.kind === "wasm";
}

/** The files that are kept with it. */
export function listPinnedFiles({ pin }: AddedTool): readonly PinnedFile[] {
  switch (pin.kind) {
    case "http":
      return [];
    case "wasm":
      return [pin.module];
    default:
      return pin.files;
  }
}

export function programHash({ pin }: AddedTool<ProgramPin>): string {
  return hashProgram(pin);
}
