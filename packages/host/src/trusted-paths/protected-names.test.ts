import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { DEFAULT_PROTECTED_PATHS, PROTECTED_GROUPS } from "./protected-names.ts";

const PAGE = new URL("../../../../docs/protected-paths.md", import.meta.url);

describe("protected names", () => {
  it("are relative paths, each once, each with the program that reads it and its documentation", () => {
    assert.equal(new Set(DEFAULT_PROTECTED_PATHS).size, DEFAULT_PROTECTED_PATHS.length);
    for (const path of DEFAULT_PROTECTED_PATHS) assert.match(path, /^[\w.*@-]+(?:\/[\w.*@-]+)*$/);
    for (const { reader, why, source } of PROTECTED_GROUPS.flatMap(({ entries }) => entries)) {
      assert.match(source, reader === "Narthex" ? /^\.\.\/README\.md$/ : /^https:\/\/\S+$/, reader);
      assert.ok(reader !== "" && why !== "", reader);
    }
  });

  it("leave a project's own files writable", () => {
    for (const path of [
      "package.json",
      "Makefile",
      "AGENTS.md",
      "CLAUDE.md",
      "GEMINI.md",
      "QWEN.md",
      ".github/copilot-instructions.md",
      ".env.example",
      ".gitignore",
      "node_modules",
    ]) {
      assert.ok(!DEFAULT_PROTECTED_PATHS.includes(path), path);
    }
  });

  it("are all in docs/protected-paths.md, in the order of the list", async () => {
    const page = await readFile(PAGE, "utf8");
    const tables = PROTECTED_GROUPS.map(({ title, entries }) => {
      const rows = entries.map(({ reader, why, source, paths }) => {
        const names = paths.map((path) => `\`${path}\``).join(" ");
        return `| [${reader}](${source}) | ${names} | ${why} |`;
      });
      return [`### ${title}`, "", "| read by | names | why |", "|---|---|---|", ...rows].join("\n");
    });
    const [, listed = ""] = page.split("## Names\n\n");
    assert.equal(listed.trim(), tables.join("\n\n"));
  });
});
