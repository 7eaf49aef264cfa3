import { blake3, canonicalJsonBytes } from "@narthex/contracts";
import { describeTool } from "./describe-tool.ts";
import type { ToolDeclaration } from "./tool.ts";

/**
 * BLAKE3 of the declaration's canonical JSON. Approvals, proofs and the ledger identify a tool by it.
 *
 * It covers the declaration. The code of an inline tool is part of the kernel's own process and is not covered; a tool
 * that is a separate program declares the hash of that program.
 */
export function definitionHash(tool: ToolDeclaration): Uint8Array {
  return blake3(canonicalJsonBytes(describeTool(tool)));
}
