import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { makeVectors } from "../packages/verify/src/testing/vectors/make-vectors.ts";

/**
 * Writes vectors/: frozen bytes of every format. `--check` writes nothing and fails if the code's present output
 * differs from the frozen files. Changing a frozen file changes a format, and with it every existing ledger.
 */
const ROOT = new URL("../vectors/", import.meta.url);
const isCheck = process.argv.includes("--check");

const made = await makeVectors();
const problems: string[] = [];
for (const [name, text] of made) {
  const file = new URL(name, ROOT);
  if (!isCheck) {
    mkdirSync(new URL(".", file), { recursive: true });
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
    problems.push(`vectors/${name} is not what the code makes`);
  }
}
const frozen = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
for (const name of frozen) if (!made.has(name)) problems.push(`vectors/${name} is made by nothing`);
if (problems.length > 0) {
  console.error(`${problems.join("\n")}\nif a format was meant to change, run \`node scripts/vectors.ts\` and say why`);
  process.exitCode = 1;
}
