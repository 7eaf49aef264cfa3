import {
  checkOptions,
  type Kernel,
  type OptionKinds,
  type PolicyFile,
  type Tool,
  type ToolFacts,
} from "@narthex/kernel";

/** The tools of a kernel. */
export interface KernelTools {
  /**
   * Registers a tool while the kernel runs: for sessions that are opened from then on, and for leases that name it. It
   * is called with `session.callTool`. Rejects with INVALID_DECLARATION, with ALREADY_REGISTERED for a name that is
   * taken, or with POLICY_INVALID, and then changes nothing.
   */
  register(tool: Tool, options?: RegisterOptions): Promise<ToolFacts>;
  /**
   * Removes a tool that was registered while the kernel runs, and the rules that came with it. Running calls finish;
   * later ones get TOOL_NOT_FOUND. Rejects with TOOL_NOT_FOUND for any other name, or with POLICY_INVALID if rules that
   * did not come with the tool name it, and then changes nothing.
   */
  unregister(name: string): Promise<void>;
  /** Returns the highest release of a name; undefined if none exists. */
  get(name: string): ToolFacts | undefined;
  /** Lists the highest release of every tool, sorted by name. */
  list(): readonly ToolFacts[];
}

export interface RegisterOptions {
  /** Rules about the tool, as Cedar text: rules that were loaded before it cannot name it. */
  readonly policies?: readonly PolicyFile[];
}

const OPTIONS: OptionKinds<RegisterOptions> = { policies: "list?" };
const POLICY: OptionKinds<PolicyFile> = { name: "text", text: "text" };

export function createKernelTools(kernel: Pick<Kernel, "registerTool" | "unregisterTool" | "listTools">): KernelTools {
  const list = (): readonly ToolFacts[] => kernel.listTools({ allVersions: false });
  return {
    async register(tool, options = {}) {
      checkOptions(options, OPTIONS, "registering a tool");
      const { policies = [] } = options;
      for (const policy of policies) checkOptions(policy, POLICY, "a policy");
      return kernel.registerTool({ tool, policies });
    },
    unregister: async (name) => kernel.unregisterTool(name),
    get: (name) => list().find(({ declaration }) => declaration.name === name),
    list,
  };
}
