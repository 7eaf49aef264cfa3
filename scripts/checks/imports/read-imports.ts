import { parseSync, Visitor } from "rolldown/utils";
import { readText } from "../syntax-node.ts";

/** One import of a file, found without running it. */
export interface Import {
  readonly specifier: string;
  /** Whether the import is removed before the file runs. */
  readonly isTypeOnly: boolean;
}

/** Syntax that only a full parse finds. Parsing takes longer than all the rest, and few files have these. */
const RARE =
  /\bimport\s*\(|\bimport\s+\w+\s*=|\brequire\b|\bgetBuiltinModule\b|\bexport\s*\{\s*\}|^\s*\/\/\/\s*<reference/m;
const REFERENCE = /^\s*\/\/\/\s*<reference\s+(?:path|types)=["']([^"']+)["']/gm;

/**
 * Finds every import of a file: of values and types, re-exports, dynamic imports, and Node's modules loaded with
 * `getBuiltinModule`.
 */
export function readImports(file: string, text: string): readonly Import[] {
  const { errors, module, program } = lazily(file, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file} cannot be read: ${error.message}`);
  const isType = (start: number, keyword: RegExp, entries: readonly { readonly isType: boolean }[]): boolean =>
    // `import { type A }` still runs the module.
    entries.length > 0 && entries.every((entry) => entry.isType) && keyword.test(text.slice(start, start + 20));
  const found: Import[] = [];
  for (const { start, moduleRequest, entries } of module.staticImports)
    found.push({ specifier: moduleRequest.value, isTypeOnly: isType(start, /^import\s+type\b/, entries) });
  for (const { start, entries } of module.staticExports) {
    const specifier = entries[0]?.moduleRequest?.value;
    if (specifier !== undefined) found.push({ specifier, isTypeOnly: isType(start, /^export\s+type\b/, entries) });
  }
  return RARE.test(text) ? [...found, ...readRare(program(), text)] : found;
}

type Parsed = ReturnType<typeof parseSync>;

function lazily(file: string, text: string): Pick<Parsed, "errors" | "module"> & { program(): Parsed["program"] } {
  const parsed = parseSync(file, text);
  return { errors: parsed.errors, module: parsed.module, program: () => parsed.program };
}

function readRare(program: Parsed["program"], text: string): Import[] {
  const found: Import[] = [...text.matchAll(REFERENCE)].map(([, specifier = ""]) => ({ specifier, isTypeOnly: true }));
  const add = (source: unknown, isTypeOnly: boolean): void => {
    const specifier = readText(source);
    if (specifier !== undefined) found.push({ specifier, isTypeOnly });
  };
  const visitor = new Visitor({
    ImportExpression: ({ source }) => add(source, false),
    TSImportType: ({ source }) => add(source, true),
    TSImportEqualsDeclaration({ moduleReference, importKind }) {
      if (moduleReference.type === "TSExternalModuleReference") add(moduleReference.expression, importKind === "type");
    },
    ExportNamedDeclaration({ source, specifiers, exportKind }) {
      if (specifiers.length === 0) add(source, exportKind === "type");
    },
    CallExpression({ callee, arguments: [first] }) {
      const name = callee.type === "MemberExpression" ? callee.property : callee;
      if (name.type === "Identifier" && (name.name === "require" || name.name === "getBuiltinModule"))
        add(first, false);
    },
  });
  visitor.visit(program);
  return found;
}
