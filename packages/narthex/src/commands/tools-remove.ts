import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { homePaths, listStoredTools, removeStoredTools } from "@narthex/host";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { visible } from "../terminal/visible.ts";
import { tryServicesConnection } from "../connection/open-connection.ts";
import type { Command } from "./command.ts";
import { parseToolName } from "./tool-name.ts";
import { createToolRule, toolRuleFile } from "./tool-rule.ts";

export const toolsRemoveCommand: Command = {
  details: "Removes its rule as well, if `tools add --allow` wrote it and it is unchanged.",
  arguments: [{ name: "<tool>", description: "NAME for every version of it, or NAME@VERSION" }],
  examples: ["narthex tools remove word_count", "narthex tools remove word_count@1.0.0"],

  async run({ arguments: [text = ""], home, terminal }) {
    const { name, version } = parseToolName(text);
    const paths = homePaths(home);
    const before = (await listStoredTools(paths.tools)).tools.filter(({ declaration }) => declaration.name === name);
    const removed = await removeStoredTools(paths.tools, name, version);
    if (removed.length === 0) {
      throw new CommandError("TOOL_NOT_FOUND", `no tool \`${text.slice(0, 60)}\` was added to this home`, {
        next: "run `narthex tools list --all-versions` to see what there is; built-in tools stay",
      });
    }
    const isLast = before.length <= removed.length;
    const rules = new Set(before.map(({ declaration }) => createToolRule(declaration)));
    const file = join(paths.policy, toolRuleFile(name));
    const written = isLast ? await readFile(file, "utf8").catch(() => undefined) : undefined;
    const takesRule = written !== undefined && rules.has(written);
    if (takesRule) await rm(file);
    const kernel = await tryServicesConnection(home);
    await kernel?.close();
    if (terminal.json) {
      terminal.printJson({ removed, policy_file: takesRule ? file : "", restart_needed: kernel !== undefined });
      return EXIT_OK;
    }
    for (const id of removed) terminal.print(visible(`removed ${id}`));
    if (takesRule) terminal.print(visible(`removed ${file}`));
    if (kernel !== undefined) terminal.note("the kernel that runs on this home has the tool until it is started again");
    return EXIT_OK;
  },
};
