import { defineTool, type Tool } from "@narthex/kernel";

/** Returns its input. */
export const echoTool: Tool = defineTool({
  name: "echo",
  description: "Gives back its input.",
  inputSchema: true,
  determinism: "pure",
  tier: "read_only",
  run: (input) => input,
});

export interface CountingTool {
  readonly tool: Tool;
  /** How many times the effect happened. */
  readonly count: () => number;
}

/** A tool with an effect that cannot be verified afterwards: it cannot reconcile. */
export function createCountingTool(name = "count", before: () => Promise<void> = async () => undefined): CountingTool {
  let count = 0;
  const tool = defineTool({
    name,
    description: "Counts its calls.",
    inputSchema: true,
    resultType: "object",
    effects: ["artifact"],
    capabilities: [{ kind: "artifact", names: ["*"] }],
    tier: "side_effecting",
    run: async () => {
      await before();
      count++;
      return { count };
    },
  });
  return { tool, count: () => count };
}

/** A read-only tool that returns when the test releases it, or when its signal aborts. */
export function createWaitingTool(name = "wait"): {
  readonly tool: Tool;
  readonly finish: () => void;
  started: Promise<void>;
} {
  const released = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const tool = defineTool({
    name,
    description: "Waits.",
    inputSchema: true,
    tier: "read_only",
    run: async (_input, context) => {
      started.resolve();
      await Promise.race([
        released.promise,
        new Promise<void>((_, reject) => context.signal.addEventListener("abort", () => reject(new Error("aborted")))),
      ]);
      return { waited: true };
    },
  });
  return { tool, finish: released.resolve, started: started.promise };
}
