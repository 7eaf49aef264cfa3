import { builtinModules, createRequire } from "node:module";
import type { Plugin } from "rolldown";

const MARK = "\0builtin:";
const NAME = /^[A-Za-z_$][\w$]*$/;

/**
 * Takes Node's own modules from `process.getBuiltinModule`. An import would make Node look up every export of the
 * module, which loads what stands behind all of them; so only what is used is looked up.
 */
export function directBuiltins(): Plugin {
  const require = createRequire(import.meta.url);
  return {
    name: "direct-builtins",
    resolveId: {
      handler: (specifier) => (isBuiltin(specifier) ? `${MARK}${specifier.replace(/^node:/, "")}` : undefined),
    },
    load: {
      handler(id) {
        if (!id.startsWith(MARK)) return undefined;
        const name = `node:${id.slice(MARK.length)}`;
        const names = Object.keys(require(name) as object).filter((key) => NAME.test(key));
        return {
          code: [
            `const builtin = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)});`,
            "const take = (name) => builtin[name];",
            "export default builtin;",
            ...names.map((key) => `export const ${key} = /* @__PURE__ */ take("${key}");`),
          ].join("\n"),
          moduleSideEffects: false,
        };
      },
    },
  };
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith("node:") || builtinModules.includes(specifier);
}
