import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawTerminal, type Scene } from "./draw-terminal.ts";
import { runInTerminal } from "./run-in-terminal.ts";
import { parseStyledLines, type StyledLine, wrapLine } from "./styled-line.ts";

/**
 * Records `docs/pictures/terminal.svg` from a real kernel: a write that policy denies, a command that a user approves in
 * another terminal, and the verification of the ledger. Everything in the picture but the prompts was printed by the
 * `narthex` command.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PICTURE = join(ROOT, "docs", "pictures", "terminal.svg");
const SIZE = { columns: 80, rows: 40 };

const DENIED = `narthex call file_write '{"path":".git/hooks/pre-push","content":"id"}'`;
const ASKED = `narthex call shell_exec '{"command":"rm -rf dist && echo removed"}'`;
const VERIFY = "narthex ledger verify";

const place = mkdtempSync(join(tmpdir(), "narthex-recording-"));
try {
  const scenes = await recordScenes();
  mkdirSync(dirname(PICTURE), { recursive: true });
  writeFileSync(
    PICTURE,
    drawTerminal(scenes, SIZE.columns, "a denied call, an approved call, and the ledger verified"),
  );
  console.log(`wrote ${PICTURE}`);
} finally {
  rmSync(place, { recursive: true, force: true });
}

async function recordScenes(): Promise<Scene[]> {
  const bin = join(place, "bin");
  mkdirSync(bin);
  symlinkSync(join(ROOT, "packages", "narthex", "bin", "narthex.js"), join(bin, "narthex"));
  const environment = {
    ...process.env,
    PATH: [bin, process.env["PATH"]].join(delimiter),
    HOME: place,
    TERM: "xterm-256color",
    NO_COLOR: "",
  };
  const terminal = { cwd: place, env: environment };
  const kernel = spawn(join(bin, "narthex"), ["serve", "--first-session", "--listen", "127.0.0.1:0"], {
    ...terminal,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const hasEnded = new Promise((resolve) => kernel.once("close", resolve));
  try {
    await new Promise<void>((resolve, reject) => {
      let banner = "";
      kernel.stdout.setEncoding("utf8").on("data", (text: string) => {
        banner += text;
        if (banner.includes("Ctrl-C stops it")) resolve();
      });
      hasEnded.then(() => reject(new Error("the kernel ended while it was starting")), reject);
    });
    const denied = await runInTerminal(DENIED, SIZE, terminal).output;
    const asked = runInTerminal(ASKED, SIZE, terminal);
    const [approval = ""] = /\bapr_[a-z0-9]+/.exec(await asked.until(/\bapr_[a-z0-9]+[^]*\n/)) ?? [];
    const waiting = hideSignInCodes(await asked.until(/code=\S+\r?\n/)).length;
    const approve = `narthex approvals approve ${approval} --by ada`;
    const approved = await runInTerminal(approve, SIZE, terminal).output;
    const finished = hideSignInCodes(await asked.output);
    const verified = await runInTerminal(VERIFY, SIZE, terminal).output;
    return [
      { afterMs: 0, lines: [comment("an agent tries to plant a git hook"), prompt(DENIED)] },
      { afterMs: 900, lines: [...styledLines(denied), []] },
      { afterMs: 1800, lines: [comment("it asks for a command that no rule permits unasked"), prompt(ASKED)] },
      { afterMs: 900, lines: styledLines(finished.slice(0, waiting)) },
      { afterMs: 1500, lines: [comment("a user decides, in another terminal"), prompt(approve)] },
      { afterMs: 600, lines: styledLines(approved) },
      { afterMs: 600, lines: [...styledLines(finished.slice(waiting)), []] },
      { afterMs: 1800, lines: [comment("what happened can be proven"), prompt(VERIFY)] },
      { afterMs: 900, lines: styledLines(verified) },
    ];
  } finally {
    kernel.kill("SIGTERM");
    await hasEnded;
  }
}

/** The codes belong to a home that is removed; but a picture should not suggest that they may be shown. */
function hideSignInCodes(output: string): string {
  return output.replaceAll(/(?<=code=)[\w-]+/g, "…");
}

function styledLines(output: string): StyledLine[] {
  return parseStyledLines(output).flatMap((line) => wrapLine(line, SIZE.columns));
}

function prompt(command: string): StyledLine {
  return [
    { text: "$ ", styles: ["dim"] },
    { text: command, styles: ["bold"] },
  ];
}

function comment(text: string): StyledLine {
  return [{ text: `# ${text}`, styles: ["dim"] }];
}
