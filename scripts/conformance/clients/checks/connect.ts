import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";

/** Tools that an agent cannot work without. */
const NEEDED = ["file_list", "file_search", "file_read", "file_edit", "file_write", "shell_exec", "git", "result_read"];

/** Beginning of the server's instructions. */
const INSTRUCTIONS = "Narthex runs tool calls in one workspace";

export const connect: Check = {
  name: "connect",
  title: "the model's first request declares narthex's tools and says what they are for; nothing to commit is left",
  async run(site) {
    const { client, connected } = site;
    expect(connected.code === 0, `narthex connect: ${excerpt(connected.stderr)}`);
    const changes = await site.git("status", "--porcelain");
    expect(changes === "", `git would commit ${excerpt(changes)}`);
    await using run = await site.start([]);
    const { output } = await run.end();
    const [first] = run.turns;
    expect(first !== undefined, `the client asked its model nothing: ${excerpt(output)}`);
    const declared = new Set(first.tools.map(({ name, namespace }) => `${namespace ?? ""} ${name}`));
    const missing = NEEDED.filter((tool) => {
      const { name, namespace } = client.toolName(tool);
      return !declared.has(`${namespace ?? ""} ${name}`);
    });
    expect(missing.length === 0, `the first request does not declare ${missing.join(", ")}`);
    const words = [first.instructions, ...first.prompts].join("\n");
    expect(words.includes(INSTRUCTIONS), "the first request lacks the server's instructions");
    const server = client.toolName("");
    const own = first.tools.filter(
      ({ name, namespace }) => namespace === server.namespace && name.startsWith(server.name),
    );
    const bytes = own.reduce((sum, { declaration }) => sum + JSON.stringify(declaration).length, 0);
    return `${own.length} tools, ${(bytes / 1024).toFixed(1)} KB`;
  },
};
