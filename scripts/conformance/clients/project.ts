import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { runAlone } from "./run-alone.ts";

/** Number of lines in `docs/big.txt`: about 3 MB. */
const BIG_LINES = 60_000;
export const LAST_LINE = "the last line of the long output";

/** The mistake in `src/sum.js`, and its correction. */
export const MISTAKE = { wrong: "return a - b;", right: "return a + b;" };

const FILES: Readonly<Record<string, string | Buffer>> = {
  "package.json": `${JSON.stringify({ name: "sums", private: true, type: "module", scripts: { test: "node --test" } }, undefined, 2)}\n`,
  "README.md": "# Sums\n\nAdds numbers.\n",
  "src/sum.js": `/** Adds two numbers. */\nexport function sum(a, b) {\n  ${MISTAKE.wrong}\n}\n`,
  "test/sum.test.js": [
    `import assert from "node:assert/strict";`,
    `import test from "node:test";`,
    `import { sum } from "../src/sum.js";`,
    `test("adds", () => assert.equal(sum(2, 3), 5));`,
    ``,
  ].join("\n"),
  // Runs until it is released, so that a check decides when a command ends.
  "slow/wait.js": [
    `import { existsSync, writeFileSync } from "node:fs";`,
    `import test from "node:test";`,
    `test("waits", async () => {`,
    `  writeFileSync("slow.started", "");`,
    `  while (!existsSync("slow.release")) await new Promise((resolve) => setTimeout(resolve, 50));`,
    `  console.log("it was released");`,
    `});`,
    ``,
  ].join("\n"),
  "docs/big.txt": `${Array.from({ length: BIG_LINES }, (_, n) => `line ${n + 1} of a file that is too long to show\n`).join("")}${LAST_LINE}\n`,
  "docs/pic.png": redPng(16),
};

/** Creates a repository with a failing test, a long file and a picture. */
export async function createProject(folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  for (const [name, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  for (const words of [
    ["init", "--quiet"],
    ["add", "--all"],
    ["commit", "--quiet", "--message=first"],
  ]) {
    const { code, stderr } = await runAlone("git", words, folder, environment);
    if (code !== 0) throw new Error(`git ${words.join(" ")}: ${stderr}`);
  }
}

/** A red square in 8-bit RGB. */
function redPng(size: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = [0, ...Array.from({ length: size }, () => [255, 0, 0]).flat()];
  const pixels = Buffer.from(Array.from({ length: size }, () => row).flat());
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", deflateSync(pixels)), chunk("IEND")]);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
