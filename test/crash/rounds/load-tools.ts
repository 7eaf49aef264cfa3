import { appendFile, readFile } from "node:fs/promises";
import type { OpenKernelOptions } from "narthex";
import { defineTool } from "narthex";

export interface LoadTools {
  readonly tools: NonNullable<OpenKernelOptions["tools"]>;
  readonly policies: NonNullable<OpenKernelOptions["policies"]>;
}

export interface LoadToolsOptions {
  /** The outside world: a file with a line for each time that something was done to it. */
  readonly effects: string;
  /** Called where a process may be ended. */
  readonly reach?: (point: "before-effect" | "after-effect" | "reconcile") => void;
}

const CHUNK_BYTES = 20_000;
const EFFECT = { type: "object", required: ["effect"], properties: { effect: { type: "string" } } } as const;
const SIZED = {
  type: "object",
  required: ["text", "bytes"],
  properties: { text: { type: "string", minLength: 1 }, bytes: { type: "integer", minimum: 1, maximum: 1_000_000 } },
} as const;

/** Tools that change the world outside in a way that can be counted, and tools with much to say. */
export function createLoadTools({ effects, reach = () => undefined }: LoadToolsOptions): LoadTools {
  async function leaveEffect({ effect }: { readonly effect: string }): Promise<{ effect: string }> {
    reach("before-effect");
    await appendFile(effects, `${effect}\n`);
    reach("after-effect");
    return { effect };
  }

  const shared = {
    inputSchema: EFFECT,
    resultType: "object",
    tier: "side_effecting",
    effects: ["artifact"],
    capabilities: [{ kind: "artifact", names: ["*"] }],
    price: 3,
    run: leaveEffect,
  } as const;
  const stamp = defineTool({ ...shared, name: "stamp", description: "Leaves an effect that nobody can look up." });
  const note = defineTool({
    ...shared,
    name: "note",
    description: "Leaves an effect, and can say afterwards whether it did.",
    async reconcile({ input }) {
      reach("reconcile");
      const effect = typeof input === "object" && input !== null && "effect" in input ? String(input["effect"]) : "";
      return (await readEffects(effects)).includes(effect) ? { happened: { effect } } : "did_not_happen";
    },
  });
  const expand = defineTool({
    name: "expand",
    description: "Repeats a text up to a size.",
    inputSchema: SIZED,
    determinism: "pure",
    tier: "read_only",
    run: ({ text, bytes }) => ({ text: repeatText(text, bytes) }),
  });
  const trickle = defineTool({
    name: "trickle",
    description: "Repeats a text up to a size, in pieces.",
    inputSchema: SIZED,
    resultType: "stream",
    determinism: "pure",
    tier: "read_only",
    async *run({ text, bytes }) {
      const whole = Buffer.from(repeatText(text, bytes));
      for (let from = 0; from < whole.length; from += CHUNK_BYTES) {
        await new Promise((resolve) => setImmediate(resolve));
        yield whole.subarray(from, from + CHUNK_BYTES);
      }
    },
  });
  const tools = [stamp, note, expand, trickle];
  const rules = tools.map(({ name }) => `@id("${name}") permit(principal, action == Action::"${name}", resource);`);
  return { tools, policies: [{ name: "load.cedar", text: rules.join("\n") }] };
}

/** What was done to the outside world, in order. */
export async function readEffects(path: string): Promise<string[]> {
  return (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
}

function repeatText(text: string, bytes: number): string {
  return text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes);
}
