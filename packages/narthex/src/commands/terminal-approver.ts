import type { Approver } from "@narthex/kernel";
import type { Terminal } from "../terminal/terminal.ts";

/** Creates an approver that asks the user at the terminal; undefined if there is no interactive terminal. */
export function createTerminalApprover(terminal: Terminal): Approver | undefined {
  if (!terminal.errorIsTerminal || !process.stdin.isTTY) return undefined;
  return {
    door: "terminal",
    async ask(question, signal) {
      const [{ toApprovalInfo }, { promptForApproval }, { openKeyReader }, { loginName }] = await Promise.all([
        import("@narthex/server/approval-info"),
        import("./approvals-prompt.ts"),
        import("../terminal/key-reader.ts"),
        import("../terminal/login-name.ts"),
      ]);
      const keys = await openKeyReader(process.stdin);
      try {
        const prompt = { terminal, keys, canWait: false };
        const answer = await promptForApproval(toApprovalInfo({ ...question, isAwaited: true }), prompt, signal);
        const approver = loginName();
        if (answer === "deny" || answer === "later") return { approved: false, approver };
        return { approved: true, approver, term: answer };
      } finally {
        keys.close();
      }
    },
  };
}
