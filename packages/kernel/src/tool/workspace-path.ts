import { KernelError, type Rule } from "@narthex/contracts";
import type { ToolSession } from "./tool.ts";

/** Mount point of the workspace in a sandbox, and so its path in the output of programs. */
const INSIDE = "/workspace";
const MAX_PATH = 4096;

/**
 * Normalises a caller's path to one relative to the workspace's root: `.` for the root itself, without empty, `.` or
 * `..` parts. Relative paths start at the session's working directory; absolute ones must lie in the workspace, by its
 * path outside or inside the sandbox.
 *
 * SECURITY: works on the text alone, without file system access. The worker resolves links and reports where they lead.
 */
export function workspacePath(path: string, { workspace, workingDirectory }: ToolSession): string {
  if (path === "") throw refused(path, "required", "is empty");
  if (path.length > MAX_PATH) throw refused(path, "max_length", `has more than ${MAX_PATH} characters`);
  if (path.includes("\0")) throw refused(path, "no_nul", "has a NUL");
  if (path.split(/[/\\]/).includes("..")) {
    throw refused(path, "no_traversal", "goes up with `..`; name the path from the workspace's root");
  }
  const absolute = path.startsWith("/") ? path : `${workingDirectory}/${path}`;
  const rest = below(workspace, absolute) ?? below(INSIDE, absolute);
  if (rest === undefined) throw new KernelError("PATH_ESCAPE", `${shown(path)} lies outside the workspace`);
  const kept = rest.split("/").filter((part) => part !== "" && part !== ".");
  return kept.length === 0 ? "." : kept.join("/");
}

/** The same path in absolute form, as used by the lease and policy. */
export function absolutePath(path: string, session: ToolSession): string {
  const relative = workspacePath(path, session);
  return relative === "." ? session.workspace : `${session.workspace}/${relative}`;
}

function below(root: string, path: string): string | undefined {
  if (path === root) return "";
  const prefix = root.endsWith("/") ? root : `${root}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}

function refused(path: string, rule: Rule, why: string): KernelError {
  const violations = [{ field: "path", rule, message: `${shown(path)} ${why}` }];
  return new KernelError("INVALID_INPUT", `${shown(path)} ${why}`, { violations });
}

function shown(path: string): string {
  return `\`${path.slice(0, 200).replaceAll("\0", "\u2400")}\``;
}
