import assert from "node:assert/strict";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type BuiltCommand, buildCommand } from "../../../scripts/build/build-command.ts";
import { VERSION } from "../../../packages/narthex/src/version.ts";

/** Copies of the built command that say they are other versions. */
export interface OtherVersions extends AsyncDisposable {
  /** The command as it is. */
  readonly program: string;
  /** The same as another version, in a directory of its own below the one given. */
  copyAs(version: string, directory: string): Promise<string>;
}

/** Takes the command that was built for the tests; a test file that is run by itself builds one. */
export async function openOtherVersions(): Promise<OtherVersions> {
  const given = process.env["NARTHEX_TEST_COMMAND"];
  const built: BuiltCommand | undefined = given === undefined ? await buildCommand() : undefined;
  const program = given ?? built?.program ?? assert.fail("no command");
  return {
    program,
    async copyAs(version, directory) {
      const folder = join(directory, `narthex-${version}`);
      await cp(join(dirname(program), ".."), folder, { recursive: true, verbatimSymlinks: true });
      await replaceVersion(join(folder, "dist"), version);
      return join(folder, "bin/narthex.js");
    },
    [Symbol.asyncDispose]: async () => await built?.[Symbol.asyncDispose](),
  };
}

async function replaceVersion(directory: string, version: string): Promise<void> {
  let replaced = 0;
  for (const name of await readdir(directory)) {
    if (!name.endsWith(".js")) continue;
    const file = join(directory, name);
    const text = await readFile(file, "utf8");
    const other = text.replaceAll(
      new RegExp(`\\bVERSION = ["\`]${RegExp.escape(VERSION)}["\`]`, "g"),
      `VERSION = "${version}"`,
    );
    if (other === text) continue;
    replaced += 1;
    await writeFile(file, other);
  }
  assert.equal(replaced, 1, "the command says its version in one place");
}
