/** A kernel that makes one call which needs an approval, gets it, and is killed at a place it was told. */
import { appendFileSync, readFileSync } from "node:fs";
import { createKernel, defineTool } from "narthex";

const [, , home = "", notes = "", tokenFile = "", place = "", isLate = ""] = process.argv;

/** What happened, in a file that outlives the process. */
const note = (what: string): void => appendFileSync(notes, `${what}\n`);

let decisions = 0;
let endorsements = 0;
function comeTo(reached: string): void {
  if (reached === place) process.kill(process.pid, "SIGKILL");
}

const effect = defineTool({
  name: "effect",
  description: "Has an effect that nobody can look up.",
  inputSchema: true,
  effects: ["artifact"],
  capabilities: [{ kind: "artifact", names: [] }],
  tier: "side_effecting",
  run: () => {
    note("effect");
    comeTo("after-effect");
    return { done: true };
  },
});

const kernel = await createKernel({
  data: home,
  tools: [effect],
  policies: [
    {
      name: "effect.cedar",
      text: '@id("e") @approve("human") permit(principal, action == Action::"effect", resource);',
    },
  ],
  approver: {
    door: "test",
    ask() {
      note("asked");
      comeTo("asked");
      if (isLate === "late") return new Promise<never>(() => undefined);
      return Promise.resolve({ approved: true, approver: "ann" });
    },
  },
  observer: {
    stage({ stage, toolName }) {
      if (toolName !== "effect" && stage !== "admit" && stage !== "bind") return;
      const count = stage === "decide" ? ++decisions : stage === "endorse" ? ++endorsements : 0;
      comeTo(count === 0 ? stage : `${stage}-${count}`);
    },
  },
});

const token = readFileSync(tokenFile, "utf8").trim();
const call = { token, tool: "effect", input: { n: 1 }, requestId: "r", ...(isLate === "late" && { timeoutMs: 500 }) };
const { response } = await kernel.callInProcess(call);
const { result } = response;
note(
  `answered ${result.case === "error" ? result.value.errorCode : result.case === "denied" ? result.value.rationaleCode : result.case}`,
);
if (isLate === "late") {
  const approvalId = result.case === "error" ? result.value.approvalId : "";
  await kernel.resolveApproval({ approvalId, answer: "once", approver: "ann", door: "cli" });
  note("yes given");
  comeTo("yes given");
}
await kernel.close();
