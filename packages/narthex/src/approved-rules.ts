import { access, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { Kernel, PolicyRules } from "@narthex/kernel";

const BY = "approval";
const RULE_ID = /^[a-z][a-z0-9_-]{0,127}$/;

/**
 * Stores the rules that people approved, each in its own file in the policy directory, where it can be read, changed
 * and deleted like any other rule.
 */
export function createApprovedRules(directory: string, kernel: () => Pick<Kernel, "changePolicy">): PolicyRules {
  const nameOf = (id: string): string => {
    // SECURITY: the id becomes part of a path.
    if (!RULE_ID.test(id)) throw new KernelError("INTERNAL", "a rule's id is not fit for a file's name");
    return `${id}.cedar`;
  };
  return {
    async addRule(id, ruleText) {
      const name = nameOf(id);
      const text = `${ruleText.trimEnd()}\n`;
      await writeFile(join(directory, name), text, { flag: "wx", mode: 0o600 });
      try {
        await kernel().changePolicy({ add: { name, text } }, BY);
      } catch (fault) {
        await rm(join(directory, name), { force: true });
        throw fault;
      }
    },
    hasRule: (id) =>
      access(join(directory, nameOf(id))).then(
        () => true,
        () => false,
      ),
    async removeRule(id) {
      const file = join(directory, nameOf(id));
      const text = await readFile(file).catch(() => undefined);
      await rm(file, { force: true });
      try {
        await kernel().changePolicy({ remove: nameOf(id) }, BY);
      } catch (fault) {
        // The rule is still in force, so its file must stay visible.
        if (text !== undefined) await writeFile(file, text, { mode: 0o600 });
        throw fault;
      }
    },
  };
}
