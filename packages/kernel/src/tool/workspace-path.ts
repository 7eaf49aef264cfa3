import { KernelError, type Rule } from "@narthex/contracts";
import type { ToolSession } from "./tool.ts";

/** Where the workspace lies for programs in a sandbox, and so in what they print. */
const INSIDE = "/workspace";
const MAX_PATH = 4096;

/**
 * A caller's path, relative to the workspace's root: `.` for the root itself, no part empty, `.` or `..`. Relative ones
 * start at the session's working directory; absolute ones must lie in the workspace, by its name outside or inside.
 *
 * SECURITY: by its text alone, nothing is looked up. Where links lead is for the worker to find out, and to report.
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

/** The same as the lease and policy see it. */
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
