import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isKernelError } from "@narthex/contracts";
import { loadCompiler } from "../compiler.ts";
import { type GeneratedTools, generateTools } from "../generate-tools.ts";

/** A temporary directory with source files to generate from. */
export interface SourceTree {
  readonly directory: string;
  /** Generates tools from the files with these names. */
  generate(...names: readonly string[]): GeneratedTools;
  /** Every problem of these files as `file:line:column: message`; empty if they have no problems. */
  problems(names: readonly string[], use?: (tools: GeneratedTools) => unknown): readonly string[];
  remove(): void;
}

export function createSourceTree(files: Readonly<Record<string, string>>): SourceTree {
  const directory = mkdtempSync(join(tmpdir(), "narthex-generate-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  const generate = (...names: readonly string[]): GeneratedTools => {
    const compiler = loadCompiler([]);
    if (compiler === undefined) throw new Error("ts-morph is not installed");
    return generateTools(compiler, new Map(names.map((name) => [join(directory, name), name])));
  };
  return {
    directory,
    generate,
    problems(names, use) {
      try {
        const tools = generate(...names);
        use?.(tools);
        return [];
      } catch (fault) {
        if (!isKernelError(fault)) throw fault;
        return fault.violations.map(({ field, message }) => `${field}: ${message}`);
      }
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}
