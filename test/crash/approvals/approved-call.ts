import { appendFileSync } from "node:fs";
import { createKernel, defineTool, type NarthexKernel, type OpenKernelOptions } from "narthex";

export interface ApprovedCallOptions {
  readonly home: string;
  /** What happened, in a file that outlives the process. */
  readonly notes: string;
  readonly token: string;
  /** The yes comes when nobody waits for it any more. */
  readonly isLate: boolean;
  /** Told of each place that the call comes to. */
  readonly reach: (place: string) => void;
  /** Looks at the kernel before it is closed. */
  readonly atTheEnd?: (kernel: NarthexKernel) => Promise<void>;
}

/** The tool that is asked about, and the rule that says so. */
export function approvedTools(run: () => void): Pick<OpenKernelOptions, "tools" | "policies"> {
  const effect = defineTool({
    name: "effect",
    description: "Has an effect that nobody can look up.",
    inputSchema: true,
    effects: ["artifact"],
    capabilities: [{ kind: "artifact", names: [] }],
    tier: "side_effecting",
    run: () => {
      run();
      return { done: true };
    },
  });
  const text = '@id("e") @approve("human") permit(principal, action == Action::"effect", resource);';
  return { tools: [effect], policies: [{ name: "effect.cedar", text }] };
}

/** Starts a kernel, makes one call that needs an approval and gets it, and closes the kernel. */
export async function makeApprovedCall(options: ApprovedCallOptions): Promise<void> {
  const { home, notes, token, isLate, reach, atTheEnd } = options;
  const note = (what: string): void => appendFileSync(notes, `${what}\n`);
  let decisions = 0;
  let endorsements = 0;

  const kernel = await createKernel({
    data: home,
    ...approvedTools(() => {
      note("effect");
      reach("after-effect");
    }),
    approver: {
      door: "test",
      ask() {
        note("asked");
        reach("asked");
        if (isLate) return new Promise<never>(() => undefined);
        return Promise.resolve({ approved: true, approver: "ann" });
      },
    },
    observer: {
      stage({ stage, toolName }) {
        if (toolName !== "effect" && stage !== "admit" && stage !== "bind") return;
        const count = stage === "decide" ? ++decisions : stage === "endorse" ? ++endorsements : 0;
        reach(count === 0 ? stage : `${stage}-${count}`);
      },
    },
  });
  try {
    const call = { token, tool: "effect", input: { n: 1 }, requestId: "r", ...(isLate && { timeoutMs: 500 }) };
    const { result } = (await kernel.callInProcess(call)).response;
    note(
      `answered ${result.case === "error" ? result.value.errorCode : result.case === "denied" ? result.value.rationaleCode : result.case}`,
    );
    await atTheEnd?.(kernel);
    if (!isLate) return;
    const approvalId = result.case === "error" ? result.value.approvalId : "";
    await kernel.resolveApproval({ approvalId, answer: "once", approver: "ann", door: "cli" });
    note("yes given");
    reach("yes given");
  } finally {
    await kernel.close();
  }
}
