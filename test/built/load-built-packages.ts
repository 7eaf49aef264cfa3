/** Loaded before a program: has it find what `npm test` built where it would find the sources. */
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const command = pathToFileURL(process.env["NARTHEX_TEST_COMMAND"] ?? "");
const built: ReadonlyMap<string, string> = new Map(
  [
    ["narthex", "dist/index.js"],
    ["@narthex/contracts", "packages/contracts.js"],
    ["@narthex/kernel", "packages/kernel.js"],
  ].map(([name = "", file]) => [name, new URL(`../${file}`, command).href]),
);
registerHooks({
  resolve: (specifier, context, next) => next(built.get(specifier) ?? specifier, context),
});
