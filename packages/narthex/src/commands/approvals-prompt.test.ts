import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApprovalInfoSchema, create } from "@narthex/contracts";
import { createTerminal } from "../terminal/terminal.ts";
import { promptForApproval } from "./approvals-prompt.ts";

/** Presses these keys one after the other and gives what was chosen and what was shown. */
async function press(
  pressed: string,
  more: Partial<{ command: string; ruleText: string; canWait: boolean; always: string[]; notes: string[] }> = {},
) {
  const { command = "npm ci", ruleText = '@id("x")\npermit(...);', canWait = true, always = [], notes = [] } = more;
  let shown = "";
  const error = {
    isTTY: true,
    write(chunk: string | Uint8Array) {
      shown += String(chunk);
      return true;
    },
  };
  const terminal = createTerminal({ output: error, error, environment: { NO_COLOR: "1" } }, { json: false });
  const left = pressed.split("");
  const shownBefore: string[] = [];
  const keys = {
    next: async () => {
      shownBefore.push(shown);
      return left.shift() ?? assert.fail("it asks for more keys than were pressed");
    },
    close: () => undefined,
  };
  const info = create(ApprovalInfoSchema, {
    approvalId: "apr_1",
    tool: "shell_exec@1.0.0",
    input: JSON.stringify({ command }),
    sessionScope: always.length > 0 ? "" : 'the command "npm" "ci"',
    alwaysRuleIds: always,
    notes,
    ruleText,
    kind: "human",
  });
  const answer = await promptForApproval(info, { terminal, keys, canWait }, new AbortController().signal);
  return { answer, shown, shownBefore, left };
}

describe("the prompt", () => {
  it("accepts no key as an approval that it does not list", async () => {
    const { answer, left } = await press("yY1 OSRaxd");
    assert.deepEqual([answer, left], ["deny", []]);
  });

  it("asks for confirmation of a longer approval, and shows what it would allow", async () => {
    assert.equal((await press("snd")).answer, "deny");
    const session = await press("sy");
    assert.equal(session.answer, "session");
    assert.match(session.shownBefore[1] ?? "", /the command "npm" "ci"/);
    const rule = await press("ry");
    assert.equal(rule.answer, "rule");
    assert.match(rule.shownBefore[1] ?? "", / {2}\| permit\(\.\.\.\);/);
  });

  it("offers a rule only where one can be written, and `later` only where the caller can come back", async () => {
    const { answer, shown } = await press("rno", { ruleText: "", canWait: false });
    assert.equal(answer, "once");
    assert.doesNotMatch(shown, /as a rule|later/);
  });

  it("refuses to approve a call that was not shown in full", async () => {
    for (const command of [`echo 1${"\n:".repeat(100)}\nrm -rf /`, `echo ${"x ".repeat(500_000)}; rm -rf /`]) {
      const { answer, shownBefore } = await press("os?o", { command });
      assert.equal(answer, "once");
      assert.match(shownBefore[0] ?? "", /cut here: \d+ more lines, \d+ characters/);
      assert.ok((shownBefore[2]?.length ?? 0) < 20_000);
      assert.doesNotMatch(shownBefore[2] ?? "", /rm -rf/);
      assert.match(shownBefore[3] ?? "", /rm -rf \//);
    }
  });

  it("offers no session approval where a rule asks for every call, and shows what a rule would override", async () => {
    const { answer, shown, shownBefore } = await press("sry", { always: ["ask-money"] });
    assert.equal(answer, "rule");
    assert.doesNotMatch(shown, /s for the session/);
    assert.match(shownBefore[2] ?? "", /for the session: not offered, because ask-money asks for every such call/);
    assert.match(shownBefore[2] ?? "", /this rule lifts ask-money: such calls are not asked about any more/);
  });

  it("counts empty lines, so that the start of a call stays visible, and shows further facts", async () => {
    const lines = (count: number, line: string) => `\n${line}`.repeat(count);
    const command = `rm -rf ~${lines(60, "")}${lines(30, " \t\u200b")}\n# safe${lines(2, "")}\nend`;
    const { shown, answer } = await press("o", { command, notes: ['"x" changed'] });
    assert.equal(answer, "once");
    assert.match(shown, / {2}\| rm -rf ~\n {2}\| \[90 empty lines\]\n {2}\| # safe\n {2}\| \n {2}\| \n {2}\| end\n/);
    assert.match(shown, /^note: "x" changed$/m);
    const { shown: long } = await press("d", { command: `rm -rf ~ #${"\n:".repeat(20)}` });
    assert.match(long, /^begins +rm -rf ~ #/m);
  });

  it("shows the call as it would run, with nothing hidden", async () => {
    const { shown } = await press("d", { command: "l\u0455 \u202e\u001b[8m; rm x\n\nMay this run?\no once" });
    assert.match(
      shown,
      / {2}\| l\u0455\[\\u\{455\}\] \[\\u\{202e\}\]\[\\u\{1b\}\]\[8m; rm x\n {2}\| \n {2}\| May this run\?/,
    );
    assert.match(shown, /the same in ASCII:\n {2}\| l\\u\{455\}/);
  });
});
