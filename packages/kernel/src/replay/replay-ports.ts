import type { SandboxedPrograms } from "../sandboxed-programs.ts";
import type { ProvenRequest } from "../policy/recheck-decision.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { WasmRunner } from "../wasm/wasm-runner.ts";
import type { WorkspaceFiles } from "../workspace-files.ts";
import type { StoredFileTrace } from "./stored-file-trace.ts";
import type { ReplayContent } from "./replay-source.ts";

/** Everything that a replay needs besides the record. None of it reaches outside. */
export interface ReplayPorts {
  /** Undefined if there is no such tool here. */
  findTool(name: string, version: string): RegisteredTool | undefined;
  /** Creates a workspace that holds only the files that a call read and replaced. */
  openFiles(record: StoredFileTrace, contentOf: (hash: string) => Promise<ReplayContent | undefined>): WorkspaceFiles;
  /** Reproduces a decision. */
  recheck(decision: ProvenRequest, read: ReadContent): Promise<RecheckedDecision>;
  /** For tools that are programs without effects; if absent, their calls are served from the record. */
  readonly programs?: { readonly driver: SandboxedPrograms; readonly emptyDirectory: string } | undefined;
  /** For modules without effects; if absent, their calls are served from the record. */
  readonly wasm?: WasmRunner | undefined;
}

/** Returns undefined if the content is missing. */
export type ReadContent = (digest: Uint8Array) => Promise<Uint8Array | undefined>;

export type RecheckedDecision =
  /** `proof` is the proof of the reproduced decision. */
  | { readonly kind: "made"; readonly proof: Uint8Array; readonly differences: readonly string[] }
  /** Rules or schema are no longer stored. */
  | { readonly kind: "gone"; readonly digest: Uint8Array };
