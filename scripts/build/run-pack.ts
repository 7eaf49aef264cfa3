import { stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { packNarthex } from "./pack-narthex.ts";

/** Ignored by git, like everything that is built. */
const DEFAULT_DIRECTORY = "dist";
/** For an installation from the checkout: scripts/install-global.mjs. */
const OPTIONS = ["--without-types", "--with-node"];

const words = process.argv.slice(2);
const [directory = DEFAULT_DIRECTORY, ...rest] = words.filter((word) => !OPTIONS.includes(word));
if (rest.length > 0 || directory.startsWith("-")) {
  console.error("usage: npm run pack [-- DIR]");
  process.exitCode = 2;
} else {
  const tarball = await packNarthex({
    directory: resolve(directory),
    withoutTypes: words.includes("--without-types"),
    withNode: words.includes("--with-node"),
  });
  const { size } = await stat(tarball);
  console.log(`${relative(process.cwd(), tarball)} (${(size / 1024).toFixed(0)} KB)`);
}
