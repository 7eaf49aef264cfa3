import type { JsonObject } from "@narthex/contracts";
import type { EndpointPin } from "./endpoint-pin.ts";
import { hashProgram, type PinnedFile, type ProgramPin } from "./program-pin.ts";
import type { ProgramDeclaration } from "./tool-manifest.ts";
import type { WasmPin } from "./wasm-pin.ts";

/** What the kernel calls when the tool is called: a program, an HTTP endpoint or a WebAssembly module. */
export type ToolPin = ProgramPin | EndpointPin | WasmPin;

/** A tool in the kernel's home: its declaration, and its program or endpoint as pinned when the tool was added. */
export interface AddedTool<Pin extends ToolPin = ToolPin> {
  readonly declaration: ProgramDeclaration;
  /** The declaration as its author wrote it. Parsing it again yields `declaration`. */
  readonly source: JsonObject;
  readonly pin: Pin;
}

/** A tool that is about to be added to the home, with the contents of its files by path. */
export interface CandidateTool<Pin extends ToolPin = ToolPin> extends AddedTool<Pin> {
  readonly bytes: ReadonlyMap<string, Uint8Array>;
}

export function addedToolId({ declaration: { name, version } }: AddedTool): string {
  return `${name}@${version}`;
}

/** Whether the tool is a program that runs on this machine. */
export function isProgram<Tool extends AddedTool>(tool: Tool): tool is Tool & AddedTool<ProgramPin> {
  return tool.pin.kind === "subprocess" || tool.pin.kind === "module";
}

export function isEndpoint<Tool extends AddedTool>(tool: Tool): tool is Tool & AddedTool<EndpointPin> {
  return tool.pin.kind === "http";
}

export function isWasm<Tool extends AddedTool>(tool: Tool): tool is Tool & AddedTool<WasmPin> {
  return tool.pin.kind === "wasm";
}

/** The files that are stored with the tool. */
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
