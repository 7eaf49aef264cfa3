import type { ApprovalScope, ToolSession } from "@narthex/kernel";
import { workspacePath } from "./workspace-path.ts";

/** These very paths, whatever comes to lie there: what an answer for the session covers. */
export function pathScope(paths: readonly string[], session: ToolSession): ApprovalScope {
  return { kind: "path", paths: paths.map((path) => workspacePath(path, session)) };
}
