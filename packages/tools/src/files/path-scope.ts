import type { ApprovalScope, ToolSession } from "@narthex/kernel";
import { workspacePath } from "./workspace-path.ts";

/** The scope of an approval for the session: exactly these paths, whatever file is there later. */
export function pathScope(paths: readonly string[], session: ToolSession): ApprovalScope {
  return { kind: "path", paths: paths.map((path) => workspacePath(path, session)) };
}
