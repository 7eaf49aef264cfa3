import assert from "node:assert/strict";
import { lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { isKernelError } from "@narthex/contracts";
import type { FileChange, FileOperation } from "@narthex/kernel";
import { edit, gather, move, remove, write } from "./testing/file-operations.ts";
import { createScratchWorkspace, type ScratchWorkspace } from "./testing/scratch-workspace.ts";

const PATHS = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f/g/a", "link", "l", "l/a"];
const STEPS = 60;

/** One change that was made, and the bytes it replaced. */
interface Step {
  readonly operation: FileOperation;
  readonly changes: readonly FileChange[];
  readonly contents: ReadonlyMap<string, Buffer>;
}

describe("changes of a workspace", () => {
  for (const seed of [1, 2, 3]) {
    it(`are reported as they happen, and can all be taken back (seed ${seed})`, async () => {
      await using scratch = await createScratchWorkspace();
      await mkdir(scratch.at("d/e"), { recursive: true });
      for (const path of ["a", "d/a", "d/e/a"]) await writeFile(scratch.at(path), `${path} x`);
      await symlink("d/a", scratch.at("link"));
      await symlink("d", scratch.at("l"));
      await scratch.own();
      const choose = createChooser(seed);
      const start = await snapshot(scratch);
      const steps: Step[] = [];
      for (let number = 0; number < STEPS; number++) {
        const before = await snapshot(scratch);
        const step = await tryStep(scratch, chooseOperation(choose, number));
        assert.deepEqual(
          await snapshot(scratch),
          step === undefined ? before : apply(before, step),
          JSON.stringify(step?.operation),
        );
        if (step !== undefined) steps.push(step);
      }
      assert.ok(steps.length > STEPS / 4, `only ${steps.length} changes`);
      for (const step of steps.toReversed()) await undo(scratch, step);
      assert.deepEqual(await snapshot(scratch), start);
    });
  }
});

function chooseOperation(choose: <Item>(items: readonly Item[]) => Item, number: number): FileOperation {
  const [path, other] = [choose(PATHS), choose(PATHS)];
  return choose<() => FileOperation>([
    () => write(path, `text ${number} x`, choose(["replace", "create_only", "append"] as const)),
    () => edit(path, "x", `${number} x`, choose([true, false])),
    () => remove(path, choose([true, false])),
    () => move(path, other, choose([true, false])),
  ])();
}

/** Undefined if it was refused. */
async function tryStep(scratch: ScratchWorkspace, operation: FileOperation): Promise<Step | undefined> {
  try {
    const prepared = await scratch.prepare(operation);
    const contents = new Map<string, Buffer>();
    for await (const preimage of prepared.preimages()) contents.set(preimage.path, await gather(preimage.content()));
    const answer = await prepared.commit();
    assert.equal(answer.kind, "changed");
    return answer.kind === "changed" ? { operation, changes: answer.changes, contents } : undefined;
  } catch (fault) {
    assert.ok(isKernelError(fault), String(fault));
    assert.ok(!["SANDBOX_ERROR", "INTERNAL", "EXECUTION_FAILED"].includes(fault.code), fault.message);
    return undefined;
  }
}

/** What was made goes last to first, what was taken away comes first to last; what was moved is moved back. */
async function undo(scratch: ScratchWorkspace, { operation, changes, contents }: Step): Promise<void> {
  const restore = async ({ path, before, after }: FileChange): Promise<void> => {
    await scratch.run({ kind: "restore", path, expected: after, before, content: contents.get(path) });
  };
  let rest = changes;
  if (operation.kind === "move") {
    const [source, destination] = changes.slice(-2);
    assert.ok(source !== undefined && destination !== undefined);
    await scratch.run(move(destination.path, source.path));
    rest = [
      ...changes.slice(0, -2),
      ...(destination.before.kind === "absent" ? [] : [{ ...destination, after: source.after }]),
    ];
  }
  for (const change of rest.toReversed()) if (change.before.kind === "absent") await restore(change);
  for (const change of rest) if (change.before.kind !== "absent") await restore(change);
}

/** What is where, on the host itself. */
async function snapshot(scratch: ScratchWorkspace): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const visit = async (path: string): Promise<void> => {
    for (const name of (await readdir(scratch.at(path))).sort()) {
      const inside = path === "." ? name : `${path}/${name}`;
      const stats = await lstat(scratch.at(inside));
      if (stats.isSymbolicLink()) found.set(inside, `-> ${await readlink(scratch.at(inside))}`);
      else if (stats.isDirectory()) {
        found.set(inside, `directory ${stats.mode & 0o7777}`);
        await visit(inside);
      } else found.set(inside, `${stats.mode & 0o7777} ${await readFile(scratch.at(inside), "utf8")}`);
    }
  };
  await visit(".");
  return found;
}

/** What the reported changes make of a snapshot. Only the hash of a file's new content is known, so it is looked up. */
function apply(before: ReadonlyMap<string, string>, { operation, changes }: Step): Map<string, string> {
  const expected = new Map(before);
  for (const { path, after } of changes) {
    if (after.kind === "absent") expected.delete(path);
    else if (after.kind === "directory") expected.set(path, `directory ${after.mode}`);
    else if (after.kind === "link") expected.set(path, `-> ${after.target}`);
    else if (after.kind === "file") expected.set(path, `${after.mode} ${textAfter(before, operation, changes)}`);
  }
  if (operation.kind === "move") moveBelow(expected, changes);
  return new Map([...expected].sort(([left], [right]) => compareParts(left, right)));
}

function textAfter(
  before: ReadonlyMap<string, string>,
  operation: FileOperation,
  changes: readonly FileChange[],
): string {
  const [last, source] = [changes.at(-1)?.path ?? "", changes.at(-2)?.path ?? ""];
  const textOf = (path: string): string => before.get(path)?.replace(/^\d+ /u, "") ?? "";
  if (operation.kind === "move") return textOf(source);
  if (operation.kind === "edit") return textOf(last).replaceAll(operation.oldContent, operation.newContent);
  assert.equal(operation.kind, "write");
  if (operation.kind !== "write") return "";
  return `${operation.mode === "append" ? textOf(last) : ""}${Buffer.from(operation.content).toString()}`;
}

/** What is in a directory moves with it. */
function moveBelow(expected: Map<string, string>, changes: readonly FileChange[]): void {
  const [source, destination] = changes.slice(-2).map(({ path }) => path);
  for (const [path, text] of Array.from(expected)) {
    if (!path.startsWith(`${source}/`)) continue;
    expected.delete(path);
    expected.set(`${destination}${path.slice(source?.length)}`, text);
  }
}

function compareParts(left: string, right: string): number {
  const [one, other] = [left, right].map((path) => path.replaceAll("/", "\u0001"));
  return (one ?? "") < (other ?? "") ? -1 : 1;
}

/** The same seed chooses the same. */
function createChooser(seed: number): <Item>(items: readonly Item[]) => Item {
  let state = seed;
  return (items) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const item = items[Math.floor((state / 2 ** 32) * items.length)];
    assert.ok(item !== undefined);
    return item;
  };
}
