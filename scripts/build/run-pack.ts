import { stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { packNarthex } from "./pack-narthex.ts";

/** Ignored by git, like everything that is built. */
const DEFAULT_DIRECTORY = "dist";

const [directory = DEFAULT_DIRECTORY, ...rest] = process.argv.slice(2);
if (rest.length > 0 || directory.startsWith("-")) {
  console.error("usage: npm run pack [-- DIR]");
  process.exitCode = 2;
} else {
  const tarball = await packNarthex(resolve(directory));
  const { size } = await stat(tarball);
  console.log(`${relative(process.cwd(), tarball)} (${(size / 1024).toFixed(0)} KB)`);
}
