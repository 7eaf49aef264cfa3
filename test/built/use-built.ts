/** Loaded before a program: has it find the built `narthex` package where it would find the sources. */
import { registerHooks } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const command = process.env["NARTHEX_TEST_COMMAND"] ?? "";
const built = pathToFileURL(join(dirname(command), "../dist/index.js")).href;
registerHooks({
  resolve: (specifier, context, next) => next(specifier === "narthex" ? built : specifier, context),
});
