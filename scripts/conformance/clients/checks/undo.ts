import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";
import type { Site } from "../site.ts";

export const undo: Check = {
  name: "undo",
  title:
    "`narthex undo` puts a session's files back; `connect --undo` leaves nothing behind, and the client has its own tools again",
  async run(site) {
    const readme = join(site.project, "README.md");
    const before = await readFile(readme, "utf8");
    await using run = await site.start([{ call: "file_write", input: { path: "README.md", content: "ruined\n" } }]);
    const { results } = await run.end();
    expect((await readFile(readme, "utf8")) === "ruined\n", `the file was not written: ${excerpt(results[0] ?? "")}`);
    const { stdout } = await site.narthex("session", "list", "--all", "--json");
    const session = /"(ses_\w+)"/.exec(stdout)?.[1];
    expect(session !== undefined, `no session is listed: ${excerpt(stdout)}`);
    await site.ask("undo", session);
    expect((await readFile(readme, "utf8")) === before, "the file was not put back");
    const { code, stderr } = await site.narthex("connect", site.client.name, "--undo", "--yes");
    expect(code === 0, `connect --undo: ${excerpt(stderr)}`);
    const left = site.connectedFiles.filter((name) => existsSync(join(site.project, name)));
    for (const name of left) {
      const text = await readFile(join(site.project, name), "utf8");
      expect(!/narthex/i.test(text), `it leaves ${name}: ${excerpt(text)}`);
    }
    const exclude = await readFile(join(site.project, ".git/info/exclude"), "utf8");
    expect(!/narthex/i.test(exclude), `.git/info/exclude keeps ${excerpt(exclude.slice(-200))}`);
    await expectOwnTools(site);
    return left.length === 0 ? undefined : `${left.join(", ")} stays with the client's own additions`;
  },
};

/** Without this, a check that a tool is gone would pass for a tool that the client never had, or that was called wrongly. */
async function expectOwnTools(site: Site): Promise<void> {
  const path = join(site.project, "made-by-own-tool.txt");
  const own = site.client.ownTools(path).filter(({ isKnown = false }) => !isKnown);
  for (const { name, input } of own) {
    await using run = await site.start([{ own: name, input }], { isPermissive: true });
    const { output, results } = await run.end();
    const [first] = run.turns;
    expect(first !== undefined, `the client asked its model nothing after --undo: ${excerpt(output)}`);
    const declared = first.tools.map((tool) => tool.name);
    expect(declared.includes(name), `without narthex it does not declare ${name}, only ${declared.join(", ")}`);
    expect(existsSync(path), `without narthex ${name} has no effect: ${excerpt(results[0] ?? output)}`);
    await rm(path);
    const { namespace, name: ours } = site.client.toolName("shell_exec");
    const still = first.tools.some((tool) => tool.namespace === namespace && tool.name === ours);
    expect(!still, "it declares narthex's tools after --undo");
  }
}
