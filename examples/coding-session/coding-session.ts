/**
 * An agent's working day in one page: it clones a repository, searches, edits, runs the tests, commits, is refused the
 * push, and one of its edits is undone. Run it with `npm run example -- coding-session`. With the name of a
 * file behind it, the session is kept there: `narthex ledger verify FILE` and `narthex replay FILE` take it anywhere.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Approver, createKernel, type JsonValue, verifyLedger } from "narthex";

const directory = mkdtempSync(join(tmpdir(), "coding-session-"));
// Programs never run as root: a kernel that is root works as the workspace's owner.
chmodSync(directory, 0o755);
const workspace = join(directory, "workspace");
makeOrigin(join(workspace, "origin.git"));

/** The person: commands are fine, and nothing leaves this machine. Asked as seldom as the default policy asks. */
const asked: string[] = [];
const person: Approver = {
  door: "example",
  async ask({ tool }) {
    asked.push(tool);
    return { approved: tool.startsWith("shell_exec"), approver: "you" };
  },
};
const kernel = await createKernel({ data: join(directory, "home"), approver: person });
const session = await kernel.session({ workspace, agent: "example" });

/** Of what the tools below answer, what is looked at. */
interface Answer {
  readonly exit_code?: number;
  readonly matches?: readonly { readonly path: string }[];
}

/** One call; what it answered, or why not. */
async function call(tool: string, input: JsonValue) {
  const { status, requestId, value, message } = await session.callTool(tool, input);
  const why = status === "success" ? "" : `: ${message}`;
  console.log(`${tool} ${JSON.stringify(input).slice(0, 90)}\n  ${status}${why}`);
  return { status, requestId, answer: (value ?? {}) as Answer };
}

const cloned = await call("git", { operation: "CLONE", args: ["origin.git", "project"] });
assert.equal(cloned.answer.exit_code, 0);

const found = await call("file_search", { pattern: "export function add", path: "project" });
assert.equal(found.answer.matches?.[0]?.path, "project/sum.js");

const test = { command: "node --test", cwd: "project" };
assert.equal((await call("shell_exec", test)).answer.exit_code, 1);
await call("file_edit", { path: "project/sum.js", old_content: "a - b", new_content: "a + b" });
assert.equal((await call("shell_exec", test)).answer.exit_code, 0);

for (const [operation, args] of [
  ["ADD", ["sum.js"]],
  ["COMMIT", ["-m", "Add instead of subtracting"]],
] as const) {
  assert.equal((await call("git", { operation, args: [...args], cwd: "project" })).answer.exit_code, 0);
}
assert.equal((await call("git", { operation: "PUSH", args: ["origin", "main"], cwd: "project" })).status, "denied");

// Guarded, for every tool: what git would run on your machine.
const planted = await call("shell_exec", { command: "echo ./evil > .git/hooks/pre-push", cwd: "project" });
assert.notEqual(planted.answer.exit_code, 0);

const { requestId } = await call("file_write", { path: "project/sum.js", content: "oops\n" });
const undone = await kernel.undo({ sessionId: session.id, requestId, by: "you", dryRun: false });
console.log(`undo ${requestId}\n  ${undone.flatMap(({ changes }) => changes.map(({ path }) => path)).join(", ")}`);
assert.match(readFileSync(join(workspace, "project/sum.js"), "utf8"), /a \+ b/);

// The push, and the command that wrote where it has no business. Searching, editing, testing and committing ask nobody.
assert.deepEqual(asked, ["git@1.0.0", "shell_exec@1.0.0"]);

const report = await verifyLedger(kernel.ledgerSource());
console.log(`ledger\n  ${report.records} records, ${report.problems.length} problems`);
assert.equal(report.problems.length, 0);
const [bundle] = process.argv.slice(2);
if (bundle !== undefined) await writeFile(bundle, kernel.exportLedger(session.id, AbortSignal.timeout(60_000)));
await kernel.close();
rmSync(directory, { recursive: true });

/** A small project with a mistake in it, as a bare repository. */
function makeOrigin(origin: string): void {
  const draft = join(directory, "draft");
  for (const path of [draft, workspace]) mkdirSync(path);
  writeFileSync(join(draft, "sum.js"), "export function add(a, b) {\n  return a - b;\n}\n");
  writeFileSync(
    join(draft, "sum.test.js"),
    `import assert from "node:assert/strict";
import { test } from "node:test";
import { add } from "./sum.js";

test("adds", () => assert.equal(add(2, 3), 5));
`,
  );
  writeFileSync(join(draft, "package.json"), '{ "name": "sum", "type": "module" }\n');
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=you", "-c", "user.email=you@example.com", ...words], { cwd: draft });
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "--message=Begin");
  git("clone", "--quiet", "--bare", ".", origin);
  if (process.getuid?.() !== 0) return;
  execFileSync("chown", ["--recursive", "1000:1000", origin]);
  chownSync(workspace, 1000, 1000);
}
