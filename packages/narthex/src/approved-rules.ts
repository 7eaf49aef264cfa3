import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { Kernel, PolicyRules } from "@narthex/kernel";

const RULE_ID = /^[a-z][a-z0-9_-]{0,127}$/;

/**
 * Rules that people gave as an answer, each in a file of its own in the policy directory, where they can be read, changed
 * and deleted like any other.
 */
export function createApprovedRules(directory: string, kernel: () => Pick<Kernel, "reloadPolicy">): PolicyRules {
  const fileOf = (id: string): string => {
    // SECURITY: the name goes into a path.
    if (!RULE_ID.test(id)) throw new KernelError("INTERNAL", "a rule's id is not fit for a file's name");
    return join(directory, `${id}.cedar`);
  };
  return {
    async addRule(id, text) {
      const file = fileOf(id);
      await writeFile(file, `${text.trimEnd()}\n`, { flag: "wx", mode: 0o600 });
      try {
        await kernel().reloadPolicy("approval");
      } catch (fault) {
        await rm(file, { force: true });
        throw fault;
      }
    },
    async removeRule(id) {
      await rm(fileOf(id), { force: true });
      await kernel().reloadPolicy("approval");
    },
  };
}
