import { KernelError } from "@narthex/contracts";
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
  if (path === "" || path.length > MAX_PATH || path.includes("\0"))
    throw refused(path, "is empty, too long or has a NUL");
  const parts = path.split(/[/\\]/);
  if (parts.includes("..")) throw refused(path, "goes up with `..`; name the path from the workspace's root");
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

function refused(path: string, why: string): KernelError {
  const violations = [{ field: "$.path", rule: "no_traversal", message: `${shown(path)} ${why}` }];
  return new KernelError("INVALID_INPUT", `${shown(path)} ${why}`, { violations });
}

function shown(path: string): string {
  return `\`${path.slice(0, 200).replaceAll("\0", "\u2400")}\``;
}
