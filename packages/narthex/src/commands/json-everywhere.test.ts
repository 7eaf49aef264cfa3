import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMAND_TREE } from "./command-tree.ts";
import type { CommandEntry, CommandLeaf } from "./command.ts";
import { createParser } from "./create-parser.ts";

/** Each command with the words that name it. */
function leavesOf(
  entries: readonly CommandEntry[],
  above: readonly string[] = [],
): (readonly [string[], CommandLeaf])[] {
  return entries.flatMap((entry) => {
    const words = [...above, entry.name];
    if (!("commands" in entry)) return [[words, entry] as const];
    const own = entry.defaultCommand === undefined ? [] : [[words, entry.defaultCommand] as const];
    return [...own, ...leavesOf(entry.commands, words)];
  });
}

test("every command accepts --json, before and after its arguments", async () => {
  const leaves = leavesOf(COMMAND_TREE);
  assert.ok(leaves.length > 20, "the commands were found");
  for (const [words, leaf] of leaves) {
    const command = await leaf.load();
    const given = (command.arguments ?? []).filter(({ name }) => name.startsWith("<")).map(() => "x");
    for (const line of [
      [...words, ...given, "--json"],
      ["--json", ...words, ...given],
    ]) {
      const chosen: unknown[] = [];
      const parser = createParser({
        tree: COMMAND_TREE,
        description: "",
        version: "",
        epilogue: () => "",
        writeHelp: () => undefined,
        run: async (run, _, { json }) => void chosen.push(run === command, json),
      });
      await parser.parseAsync(line, { from: "user" });
      assert.deepEqual(chosen, [true, true], line.join(" "));
    }
    assert.ok(!(command.options ?? []).some(({ flags }) => /--json\b/.test(flags)), `${words.join(" ")} has its own`);
  }
});
