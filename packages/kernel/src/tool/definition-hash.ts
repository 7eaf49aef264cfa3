import { blake3, canonicalJsonBytes } from "@narthex/contracts";
import { describeTool } from "./describe-tool.ts";
import type { ToolDeclaration } from "./tool.ts";

/**
 * BLAKE3 of the declaration's canonical JSON. Approvals, proofs and the ledger name a tool by it.
 *
 * It covers what is declared. The code of an inline tool is part of the kernel's own process and is not covered; a
 * tool that is a program of its own declares that program's hash.
 */
export function definitionHash(tool: ToolDeclaration): Uint8Array {
  return blake3(canonicalJsonBytes(describeTool(tool)));
}
