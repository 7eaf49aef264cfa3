import { type DeclaredTools, declareTools } from "../declare/declare-tools.ts";
import type { AgentSession } from "./agent-session.ts";
import type { ReadCall } from "./execute-call.ts";

/** The tools of a session as declared to a model. */
export interface AgentTools {
  readonly declared: DeclaredTools;
  /** Whether a call can run in parallel with others. */
  isReadOnly(call: ReadCall): boolean;
}

export function listAgentTools(session: AgentSession): AgentTools {
  const tools = session.listTools();
  const byName = new Map(tools.map((tool) => [tool.declaration.name, tool]));
  return {
    declared: declareTools(tools.map(({ declaration }) => declaration)),
    isReadOnly: ({ tool, input }) => byName.get(tool)?.tierOf(input) === "read_only",
  };
}
