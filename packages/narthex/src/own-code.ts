import { KernelError } from "@narthex/contracts";
import { findOwnCode, type OwnCode } from "@narthex/host/own-code";
import type { Logger } from "@narthex/kernel";
import { PACKAGE_DIRECTORY } from "./package-directory.ts";

/** What happens if a workspace holds the code that this process runs. */
export type OwnCodeMode = "refuse" | "warn" | "allow";

export function locateOwnCode(environment: NodeJS.ProcessEnv): OwnCode {
  return findOwnCode({ directory: PACKAGE_DIRECTORY, node: process.execPath, path: environment["PATH"] ?? "" });
}

export interface OwnCodeCheckOptions {
  readonly ownCode: OwnCode;
  readonly mode: OwnCodeMode;
  readonly log?: Logger | undefined;
}

/**
 * Creates a check that runs before anything is done for a workspace. `workspace` is a real path. Throws
 * WORKSPACE_REFUSED.
 *
 * SECURITY: this code decides, signs and holds the tokens; an agent that changed it would control the kernel from its
 * next start on. Its files are also protected inside the workspace, so a user may accept it.
 */
export function createOwnCodeCheck({ ownCode, mode, log }: OwnCodeCheckOptions): (workspace: string) => Promise<void> {
  const known = new Set<string>();
  return async (workspace) => {
    if (mode === "allow" || known.has(workspace)) return;
    const code = await ownCode.overlapping(workspace);
    if (code !== undefined && mode === "refuse") {
      throw new KernelError("WORKSPACE_REFUSED", `${problemOf(workspace, code)}; ${REMEDIES}`);
    }
    known.add(workspace);
    if (code === undefined) return;
    const message = `${problemOf(workspace, code)}; ${PLACE_ELSEWHERE}`;
    if (log === undefined) process.emitWarning(message, { code: "NARTHEX_OWN_CODE" });
    else log("warn", message, { workspace, code });
  };
}

const PLACE_ELSEWHERE = "install it outside of the workspace (from its checkout: `npm run install:global`)";
const REMEDIES =
  `${PLACE_ELSEWHERE}, or accept it with \`session: {own_code: allow}\` in narthex.yaml, or with --allow-own-code for ` +
  "one run of serve or mcp, or of session open where no kernel runs";

function problemOf(workspace: string, code: string): string {
  return `narthex runs from \`${code}\`, which an agent in the workspace \`${workspace}\` could change`;
}
