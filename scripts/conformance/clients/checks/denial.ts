import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";

export const denial: Check = {
  name: "denial",
  title: "a denied call has no effect, and the model is told the path and the rule",
  async run(site) {
    const before = await readFile(join(site.project, ".git/config"), "utf8");
    await using run = await site.start([
      { call: "file_write", input: { path: ".git/config", content: "[core]\n\tfsmonitor = touch owned\n" } },
      { call: "file_read", input: { path: "/etc/shadow" } },
    ]);
    const { results } = await run.end();
    expect((await readFile(join(site.project, ".git/config"), "utf8")) === before, "the file was written");
    const [write = "", read = ""] = results;
    expect(/Denied \(NO_MATCHING_RULE\)/.test(write), `no denial: ${excerpt(write)}`);
    expect(write.includes("write_protected"), `the denial does not say what is not permitted: ${excerpt(write)}`);
    expect(write.includes(".git/config"), `the denial does not name the path: ${excerpt(write)}`);
    expect(
      !/without-effects|ask-network/.test(write),
      `the denial names rules for other calls: ${excerpt(write, 400)}`,
    );
    expect(/PATH_ESCAPE: .*\/etc\/shadow/.test(read), `reading /etc/shadow: ${excerpt(read)}`);
    return undefined;
  },
};
