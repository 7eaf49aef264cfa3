import type { SandboxedPrograms } from "../sandboxed-programs.ts";
import type { ProvenRequest } from "../policy/recheck-decision.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { WasmRunner } from "../wasm/wasm-runner.ts";
import type { WorkspaceFiles } from "../workspace-files.ts";
import type { StoredFileTrace } from "./stored-file-trace.ts";
import type { ReplayContent } from "./replay-source.ts";

/** What a replay needs besides the record. Nothing of it reaches the world. */
export interface ReplayPorts {
  /** Undefined if there is no such tool here. */
  findTool(name: string, version: string): RegisteredTool | undefined;
  /** A workspace that holds what a call read and replaced, and nothing else. */
  openFiles(record: StoredFileTrace, contentOf: (hash: string) => Promise<ReplayContent | undefined>): WorkspaceFiles;
  /** Makes a decision again. */
  recheck(decision: ProvenRequest, read: ReadContent): Promise<RecheckedDecision>;
  /** For tools that are programs without effects; without it, they are served from the record. */
  readonly programs?: { readonly driver: SandboxedPrograms; readonly emptyDirectory: string } | undefined;
  /** For modules without effects; the same holds for them. */
  readonly wasm?: WasmRunner | undefined;
}

/** Undefined where the content is gone. */
export type ReadContent = (digest: Uint8Array) => Promise<Uint8Array | undefined>;

export type RecheckedDecision =
  /** `proof` is what comes out now. */
  | { readonly kind: "made"; readonly proof: Uint8Array; readonly differences: readonly string[] }
  /** Rules or schema are not there any more. */
  | { readonly kind: "gone"; readonly digest: Uint8Array };
