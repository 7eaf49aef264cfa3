import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { after, before, describe, it } from "node:test";
import {
  createTestHome,
  ended,
  inheritedEnvironment,
  objectOf,
  objectsOf,
  parseObject,
  type TestHome,
  textOf,
} from "./home.ts";

interface OnTerminal {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** What the screen has shown so far. */
  shown(): string;
  /** Until the screen shows it, after what it showed before. */
  see(text: string, before?: string): Promise<void>;
  press(key: string): void;
}

/** The command on a terminal of its own. */
function onTerminal(at: TestHome, args: readonly string[]): OnTerminal {
  const line = [process.execPath, at.program, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: at.root,
    env: { ...inheritedEnvironment(), HOME: at.root, NARTHEX_DATA: at.home, NO_COLOR: "1", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let shown = "";
  const waiting = new Set<() => void>();
  child.stdout.on("data", (chunk: Uint8Array) => {
    shown += Buffer.from(chunk).toString("utf8");
    for (const wake of waiting) wake();
  });
  child.on("exit", () => {
    for (const wake of waiting) wake();
  });
  return {
    child,
    shown: () => shown,
    async see(text, before = "") {
      while (!shown.includes(before) || !shown.slice(shown.indexOf(before)).includes(text)) {
        if (child.exitCode !== null) assert.fail(`it ended without \`${text}\`: ${shown}`);
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      }
    },
    press: (key) => void child.stdin.write(key),
  };
}

describe("a person at a terminal", { timeout: 180_000 }, () => {
  let at: TestHome;
  let session: { readonly id: string };
  before(async () => {
    at = await createTestHome();
    session = await at.openSession("--adopt");
  });
  after(() => at.remove());

  const callArgs = (command: string): string[] => [
    "call",
    "shell_exec",
    JSON.stringify({ command }),
    "--session",
    session.id,
  ];

  it("is asked by a call without a running kernel, and only a plain `yes` runs it", async () => {
    for (const [key, isMade] of [
      ["d", false],
      ["o", true],
    ] as const) {
      const terminal = onTerminal(at, callArgs("mkdir here"));
      // Typed ahead: answers nothing.
      terminal.press("o");
      await terminal.see("May this run?");
      await terminal.see("  | mkdir here");
      await terminal.see("d deny");
      assert.equal(existsSync(join(at.workspace, "here")), false);
      terminal.press(key);
      assert.equal(await ended(terminal.child), isMade ? 0 : 3, terminal.shown());
      assert.equal(existsSync(join(at.workspace, "here")), isMade);
    }
  });

  it("shows a command's output as text, with the exit code if it is not 0", async () => {
    const listed = onTerminal(at, callArgs("ls; ls nope"));
    await listed.see("exit code 2");
    assert.equal(await ended(listed.child), 0);
    assert.match(listed.shown(), /^here\r\nls: cannot access 'nope': .*\r\nexit code 2\r\nshell_exec@1\.0\.0, /m);
    assert.doesNotMatch(listed.shown(), /"stdout"/);
    const asJson = onTerminal(at, [...callArgs("ls"), "--json"]);
    await asJson.see('"exit_code": 0');
    await ended(asJson.child);
    const piped = parseObject((await at.run(callArgs("ls"))).stdout);
    assert.deepEqual([piped["exit_code"], objectOf(piped["stdout"])["text"]], [0, "here\n"]);
  });

  it("decides requests of a served kernel as they arrive, and one decided elsewhere disappears", async () => {
    const serving = await at.serve();
    const watching = onTerminal(at, ["approvals", "watch", "--by", "ada"]);
    await watching.see("watching for questions");

    const first = at.start([...callArgs("mkdir first"), "--json"], { stdin: "" });
    await watching.see("  | mkdir first");
    await watching.see("d deny");
    const [info] = objectsOf((await at.ask(["approvals", "list"]))["approvals"]);
    await at.ask(["approvals", "deny", textOf(info?.["approval_id"])]);
    await watching.see("decided elsewhere");
    assert.equal(await ended(first), 3);

    const second = at.start([...callArgs("mkdir second"), "--json"], { stdin: "" });
    await watching.see("  | mkdir second");
    // A key that was meant for the first question would answer nothing until then.
    await watching.see("s for the session", "  | mkdir second");
    watching.press("s");
    await watching.see('for the session: the command "mkdir" "second"');
    watching.press("y");
    await watching.see("approved (session)");
    assert.equal(await ended(second), 0);
    assert.ok(existsSync(join(at.workspace, "second")));
    const [standing] = objectsOf((await at.ask(["approvals", "list", "--standing"]))["standing"]);
    assert.equal(standing?.["approver"], "ada");
    watching.press("\u0003");
    await ended(watching.child);
    await serving.stop();
  });
});
