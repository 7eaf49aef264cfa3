import type { Session } from "./session.ts";

/** Where a session works, relative to its workspace, which is `.`. */
export function relativeDirectory({
  workspace,
  workingDirectory,
}: Pick<Session, "workspace" | "workingDirectory">): string {
  if (workingDirectory === workspace || workingDirectory === "") return ".";
  return workingDirectory.startsWith(`${workspace}/`) ? workingDirectory.slice(workspace.length + 1) : workingDirectory;
}
