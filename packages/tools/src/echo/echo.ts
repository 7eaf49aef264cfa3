import { defineTool } from "@narthex/kernel";

/** Returns its input. For trying out a session, a door or a policy. */
export const echo = defineTool({
  name: "echo",
  description:
    "Answers exactly the JSON value it is given. Changes nothing and reads nothing: use it to see that tool calls work.",
  source: "builtin",
  inputSchema: { description: "Any JSON value. It comes back unchanged." },
  resultType: "json",
  determinism: "pure",
  tier: "read_only",
  run: (input) => input,
});
