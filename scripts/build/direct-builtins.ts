import { builtinModules, createRequire } from "node:module";
import type { Plugin } from "rolldown";

const MARK = "\0builtin:";
const WHOLE_MARK = "\0whole-builtin:";
const MARKED = new RegExp(`^(?:${MARK}|${WHOLE_MARK})`);
const BUILTIN = new RegExp(`^(?:node:|(?:${builtinModules.map((name) => RegExp.escape(name)).join("|")})$)`);
const NAME = /^[A-Za-z_$][\w$]*$/;

/**
 * Gets Node's own modules from `process.getBuiltinModule`. An import would make Node look up every export of the
 * module, which loads everything behind them; this looks up only the exports that are used. `require` gets the whole
 * module, and dynamic imports stay unchanged.
 */
export function directBuiltins(): Plugin {
  const require = createRequire(import.meta.url);
  return {
    name: "direct-builtins",
    // The bundler itself evaluates filters, which is faster than calling this handler for every import.
    resolveId: {
      filter: { id: BUILTIN },
      handler(specifier, _importer, { kind }) {
        const name = specifier.replace(/^node:/, "");
        if (kind === "dynamic-import") return { id: `node:${name}`, external: true };
        return `${kind === "require-call" ? WHOLE_MARK : MARK}${name}`;
      },
    },
    load: {
      filter: { id: MARKED },
      handler(id) {
        if (id.startsWith(WHOLE_MARK)) return `module.exports = ${taken(id.slice(WHOLE_MARK.length))};`;
        const name = id.slice(MARK.length);
        const names = Object.keys(require(`node:${name}`) as object).filter((key) => NAME.test(key));
        return {
          code: [
            `const builtin = /* @__PURE__ */ ${taken(name)};`,
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

function taken(name: string): string {
  return `process.getBuiltinModule(${JSON.stringify(`node:${name}`)})`;
}
