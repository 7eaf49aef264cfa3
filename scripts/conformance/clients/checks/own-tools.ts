import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";

export const ownTools: Check = {
  name: "built-ins-off",
  title: "the client's own tools that act are not declared, and calling them anyway has no effect",
  async run(site) {
    const path = join(site.project, "made-by-own-tool.txt");
    const calls = site.client.ownTools(path);
    await using run = await site.start(
      calls.map(({ name, input }) => ({ own: name, input })),
      { isPermissive: true },
    );
    const { output } = await run.end();
    const [first] = run.turns;
    expect(first !== undefined, `the client asked its model nothing: ${excerpt(output)}`);
    const declared = calls.map(({ name }) => name).filter((name) => first.tools.some((tool) => tool.name === name));
    const wasMade = existsSync(path);
    await rm(path, { force: true });
    expect(declared.length === 0, `it declares ${declared.join(", ")}${wasMade ? ", which ran" : ""}`);
    expect(!wasMade, "a tool that is not declared ran");
    const { name: prefix } = site.client.toolName("");
    const left = first.tools.filter(
      ({ name, namespace }) => namespace === undefined && (prefix === "" || !name.startsWith(prefix)),
    );
    return `left: ${left.map(({ name }) => name).join(", ")}`;
  },
};
