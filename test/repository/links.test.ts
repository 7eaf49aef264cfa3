import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";

const LINK = /\]\((?<path>[^)\s#]+)(?:#[^)\s]*)?\)/g;

test("every relative link of a page points to a file", () => {
  const pages = globSync(["*.md", "docs/**/*.md", "examples/**/*.md"], { cwd: REPOSITORY });
  const links = pages.flatMap((page) =>
    [...readFileSync(join(REPOSITORY, page), "utf8").matchAll(LINK)]
      .map(({ groups }) => groups?.["path"] ?? "")
      .filter((path) => !/^[a-z]+:/.test(path))
      .map((path) => ({ page, path })),
  );
  assert.ok(links.length > 200);
  const broken = links.filter(({ page, path }) => !existsSync(join(REPOSITORY, dirname(page), path)));
  assert.deepEqual(broken, []);
});
