import { KernelError } from "@narthex/contracts";
import type { ToolSession } from "@narthex/kernel";
import { workspacePath } from "../files/workspace-path.ts";
import { cloneRequest } from "./clone-request.ts";
import { type GitArguments, gitArguments } from "./git-arguments.ts";

export interface GitInput {
  readonly operation: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
}

/** A request whose arguments have all been validated. */
export type CheckedGit = Extract<GitArguments, { argv: unknown }> & { readonly workingDirectory: string };

/**
 * All schemes that are valid addresses. Whether one can be reached is checked separately, so that unreachable and
 * invalid addresses get different errors.
 */
const PROTOCOLS = ["https", "http", "ssh", "git", "file"];

/** Throws INVALID_INPUT with every problem of the request, before any policy decision and before anything runs. */
export function checkGit({ operation, args, cwd }: GitInput, session: ToolSession): CheckedGit {
  const workingDirectory = workspacePath(cwd || ".", session);
  const checked = gitArguments({ operation, ...(args && { args }) }, { protocols: PROTOCOLS });
  if ("violations" in checked) {
    const violations = checked.violations.map((violation) => ({ ...violation, field: `$.${violation.field}` }));
    const [first] = violations;
    throw new KernelError("INVALID_INPUT", `${first?.field} ${first?.message}`, { violations });
  }
  if (checked.operation === "CLONE") cloneRequest(checked);
  return { ...checked, workingDirectory };
}
