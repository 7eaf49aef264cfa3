import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { ended } from "../cli/home.ts";

/** One block of commands of a guide, and the lines that it says are printed. */
interface GuideBlock {
  readonly commands: string;
  readonly fails: boolean;
  readonly expected: readonly string[];
}

export interface GuideOptions {
  readonly guide: URL;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

const BLOCK = /^```sh(?<fails> fails)?\n(?<commands>[^]*?)^```$(?:\n\n```text\n(?<expected>[^]*?)^```$)?/gm;
const END = "@@ block ended with ";

/**
 * Runs the commands of a guide as they stand there, in one shell: the blocks marked `sh`, of which those marked `sh fails`
 * end with an error. What a block marked `text` shows behind them is printed by them, line by line in that order; `…` stands
 * for anything.
 */
export async function runGuide({ guide, cwd, env }: GuideOptions): Promise<number> {
  const blocks = parseBlocks(await readFile(guide, "utf8"));
  const script = ["exec 2>&1", "set -e -o pipefail", ...blocks.map(toScript)].join("\n");
  const shell = spawn("bash", ["-s"], { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  shell.stdin.end(script);
  const [printed] = await Promise.all([text(shell.stdout), ended(shell)]);
  const outputs = printed.split(new RegExp(`^${END}`, "m"));
  for (const [at, { commands, fails, expected }] of blocks.entries()) {
    const output = outputs[at]?.replace(/^\d+\n/, "") ?? "";
    const status = outputs[at + 1] === undefined ? undefined : Number.parseInt(outputs[at + 1] ?? "", 10);
    const about = `${commands}printed:\n${output}`;
    assert.ok(status !== undefined, `it ended in an error: ${about}`);
    assert.equal(status !== 0, fails, about);
    assertPrinted(output.split("\n"), expected, about);
  }
  return blocks.length;
}

function parseBlocks(guide: string): GuideBlock[] {
  return [...guide.matchAll(BLOCK)].map(({ groups }) => ({
    commands: groups?.["commands"] ?? "",
    fails: groups?.["fails"] !== undefined,
    expected: (groups?.["expected"] ?? "").split("\n").filter((line) => line !== ""),
  }));
}

function toScript({ commands, fails }: GuideBlock): string {
  const [before, after] = fails ? ["set +e", "set -e"] : ["", ""];
  return `${before}\n${commands}\nstatus=$?\n${after}\necho "${END}$status"`;
}

function assertPrinted(lines: readonly string[], expected: readonly string[], about: string): void {
  let from = 0;
  for (const line of expected) {
    const pattern = new RegExp(
      `^${line
        .split("…")
        .map((part) => RegExp.escape(part))
        .join(".*")}$`,
    );
    const at = lines.findIndex((printed, index) => index >= from && pattern.test(printed));
    assert.notEqual(at, -1, `no line \`${line}\` after line ${from}: ${about}`);
    from = at + 1;
  }
}
