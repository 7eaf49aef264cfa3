import type { Session } from "./session.ts";

/** A session's working directory relative to its workspace; `.` for the workspace itself. */
export function relativeDirectory({
  workspace,
  workingDirectory,
}: Pick<Session, "workspace" | "workingDirectory">): string {
  if (workingDirectory === workspace || workingDirectory === "") return ".";
  return workingDirectory.startsWith(`${workspace}/`) ? workingDirectory.slice(workspace.length + 1) : workingDirectory;
}
