import { defineTool } from "@narthex/kernel";
import { createTestKernel } from "@narthex/testkit";
import { type AgentSession, createAgentSession } from "../../session/agent-session.ts";

const read = defineTool({
  name: "file_read",
  description: "Reads a file.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    additionalProperties: false,
  },
  resultType: "string",
  tier: "read_only",
  run: ({ path }) => `content of ${path}`,
});

const write = defineTool({
  name: "file_write",
  description: "Writes a file.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" } },
    required: ["path"],
  },
  resultType: "string",
  tier: "side_effecting",
  run: ({ path }) => `wrote ${path}`,
});

/** Creates a session with a tool that reads and one that writes. */
export async function createFileSession(): Promise<AgentSession> {
  const { kernel, open } = await createTestKernel({ tools: [read, write] });
  return createAgentSession(kernel, await open());
}
