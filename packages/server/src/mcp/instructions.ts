/** Facts for the description of the server that a model gets when it connects. */
export interface InstructionFacts {
  /** Names of the tools that are listed to the client. */
  readonly tools: readonly string[];
  /** How long a call waits for an approval; undefined if it is not known here. */
  readonly approvalWaitMs?: number | undefined;
}

const MS_PER_SECOND = 1000;

/** What the tools are used for, in the order of the text. */
const USES: readonly (readonly [use: string, tools: readonly string[]])[] = [
  ["files", ["file_read", "file_list", "file_search", "file_write", "file_edit", "file_move", "file_delete"]],
  ["commands", ["shell_exec", "shell_spawn"]],
  ["git", ["git"]],
  ["the web", ["web_fetch", "web_search", "http_fetch"]],
];

/**
 * Writes one paragraph for a model: what the server is for, which calls wait and for how long, how to read more.
 *
 * INVARIANT: it names no tool that is not listed, and no number that is not configured.
 */
export function writeInstructions({ tools, approvalWaitMs }: InstructionFacts): string {
  const offered = new Set(tools);
  const uses = USES.flatMap(([use, names]) => {
    const found = names.filter((name) => offered.has(name));
    return found.length === 0 ? [] : [`${use} (${found.join(", ")})`];
  });
  const wait = approvalWaitMs === undefined ? "for a while" : `up to ${approvalWaitMs / MS_PER_SECOND} s`;
  return [
    "Narthex runs tool calls in one workspace: each is checked against a policy, contained in a sandbox and recorded.",
    ...(uses.length === 0 ? [] : [`Use its tools for ${uses.join(", ")}.`]),
    "Some calls wait for a person's approval; descriptions say which.",
    `Such a call waits ${wait}, then answers APPROVAL_PENDING: make exactly the same call again to wait on, it joins the open question.`,
    "A denial names the rule and what would be allowed: choose another way instead of repeating the call.",
    ...(offered.has("result_read") ? ["Long results are cut: read the rest with result_read."] : []),
  ].join(" ");
}
