import { resolve } from "node:path";
import { type GeneratedTools, generateTools, loadCompiler } from "@narthex/agent/generate";
import { isKernelError, type JsonValue } from "@narthex/contracts";
import { CommandError, usageError } from "../terminal/command-error.ts";
import { EXIT_OK, EXIT_TOOL_ERROR, exitCodeOf } from "../terminal/exit-code.ts";
import { visible } from "../terminal/visible.ts";
import type { Command, Invocation } from "./command.ts";
import { readGenerated, writeGenerated } from "./generated-file.ts";

export const generateCommand: Command = {
  details:
    "Every exported async function whose doc comment has the tag @tool becomes a tool: its parameters are the input " +
    "schema, its result the output schema, its comment the description. Writes a module that exports them as `tools`, " +
    "for createKernel and, with --whole, for `narthex tools add`. With --json it prints the declarations and writes " +
    "nothing. Whatever cannot be a tool is a line FILE:LINE:COLUMN: MESSAGE, and nothing is written. No code of the files " +
    "is run; ts-morph, which reads them, is taken from beside Narthex, or else from the working directory's node_modules. " +
    "docs/guides/generate.md says what a function can look like.",
  arguments: [{ name: "<file...>", description: "TypeScript modules" }],
  options: [
    { flags: "--out <file>", description: "the module to write (default: FILE.tools.ts beside the only FILE)" },
    { flags: "--whole", description: "put the only FILE itself into the module, instead of importing it" },
    { flags: "--check", description: "write nothing; exit code 1 means that the module is not what would be written" },
  ],
  examples: [
    "narthex generate functions.ts",
    "narthex generate src/files.ts src/words.ts --out src/all.tools.ts",
    "narthex generate functions.ts --check",
  ],

  async run(invocation) {
    const { terminal, options } = invocation;
    const files = new Map(invocation.arguments.map((name) => [resolve(name), name]));
    const isWritten = !terminal.json || options.flag("check");
    const output = isWritten ? findOutput(files, options.text("out")) : "";
    const compiler = findCompiler();
    try {
      const generated = generateTools(compiler, files);
      if (!isWritten) {
        terminal.printJson({ declarations: toJson(generated) });
        return EXIT_OK;
      }
      const path = resolve(output);
      const text = options.flag("whole") ? generated.printStandaloneModule(path) : generated.printModule(path);
      return await (options.flag("check") ? check : write)(generated, { output, text }, invocation);
    } catch (fault) {
      if (terminal.json || !isKernelError(fault) || fault.violations.length === 0) throw fault;
      for (const { field, message } of fault.violations) terminal.note(visible(`${field}: ${message}`));
      terminal.note(fault.message);
      return exitCodeOf(fault.code);
    }
  },
};

interface Module {
  /** Output file as the user named it. */
  readonly output: string;
  readonly text: string;
}

function findOutput(files: ReadonlyMap<string, string>, given: string | undefined): string {
  const [name = "", second] = files.values();
  if (given === undefined && second !== undefined) {
    throw usageError("of several files one module is made: say with --out where to write it");
  }
  const output = given ?? name.replace(/(?:\.(m?ts))?$/, (_, end: string | undefined) => `.tools.${end ?? "ts"}`);
  if (!/(?<!\.d)\.m?ts$/.test(output)) throw usageError("--out names a TypeScript module: it ends in .ts or .mts");
  if (files.has(resolve(output))) throw usageError("--out names a file that is read: choose another");
  return output;
}

/** SECURITY: if Narthex has no compiler of its own, this runs the one installed in the current directory. */
function findCompiler() {
  const compiler = loadCompiler([process.cwd()]);
  if (compiler !== undefined) return compiler;
  throw new CommandError("CONFIG_INVALID", "generate reads TypeScript with ts-morph, which is not installed here", {
    next: "run `npm install --save-dev ts-morph`",
  });
}

async function write(generated: GeneratedTools, { output, text }: Module, { terminal }: Invocation): Promise<number> {
  const before = await readGenerated(output);
  if (before !== text) await writeGenerated(output, text);
  const names = generated.declarations.map(({ name }) => name).join(", ");
  terminal.print(visible(`${before === text ? "unchanged" : "written"}: ${output} (${names})`));
  return EXIT_OK;
}

async function check(generated: GeneratedTools, { output, text }: Module, { terminal }: Invocation): Promise<number> {
  const isCurrent = (await readGenerated(output)) === text;
  if (terminal.json) terminal.printJson({ declarations: toJson(generated), file: output, is_current: isCurrent });
  else if (isCurrent) terminal.print(visible(`${output} is what would be written`));
  else terminal.note(visible(`${output} is not what would be written: run it again without --check`));
  return isCurrent ? EXIT_OK : EXIT_TOOL_ERROR;
}

function toJson({ declarations }: GeneratedTools): JsonValue[] {
  return declarations.map(({ name, description, parameters }) => ({ name, description, parameters }));
}
