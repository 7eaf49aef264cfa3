import type { JsonValue } from "@narthex/contracts";
import { convertField } from "./convert-input.ts";
import type { ModuleNames } from "./module-names.ts";
import { printType } from "./print-type.ts";
import { LINE_WIDTH, printLines, printValue } from "./print-value.ts";
import { type Shape, someShape } from "./shape.ts";
import type { ToolSource } from "./tool-source.ts";

const INDENT = "    ";
const DEEPER = `${INDENT}  `;
/**
 * Start column for a type, which follows other code; where that code takes more than half of a line, the line becomes
 * too long.
 */
const HALF = LINE_WIDTH / 2;

/** Prints one tool as an element of the list. */
export function printTool(
  tool: ToolSource,
  names: ModuleNames,
  options: { readonly withCapabilities: boolean },
): string {
  const properties: readonly (readonly [string, JsonValue | undefined])[] = [
    ["name", tool.name],
    ["version", tool.version],
    ["description", tool.description],
    ["inputSchema", tool.inputSchema],
    ["outputSchema", tool.outputSchema],
    ["effects", tool.effects && [...tool.effects]],
    ["capabilities", options.withCapabilities && tool.capabilities.length > 0 ? [...tool.capabilities] : undefined],
    ["determinism", tool.determinism],
    ["tier", tool.tier],
  ];
  const printed = properties.flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${printValue(value, INDENT, INDENT.length + key.length + 2)}`],
  );
  return `${names.defineTool}(${printLines("{", [...printed, `run: ${printRun(tool, names)}`], "}", "  ")})`;
}

function printRun(tool: ToolSource, names: ModuleNames): string {
  const head = `(${printParameters(tool, names)}) =>`;
  const { output } = tool;
  if (output === undefined) {
    return `async ${head} ${printBlock([`await ${printCall(tool, names, DEEPER, "await ;")};`, "return null;"])}`;
  }
  const isSure = !isLoose(output);
  const print = (indent: string, before: string): string => {
    if (isSure) return printCall(tool, names, indent, before);
    return `(await ${printCall(tool, names, indent, `${before}(await )`)}) as ${printType(output, indent, HALF)}`;
  };
  const start = isSure ? head : `async ${head}`;
  const flat = `${start} ${print(INDENT, "")}`;
  const fits = !flat.includes("\n") && INDENT.length + "run: ,".length + flat.length <= LINE_WIDTH;
  return fits ? flat : `${start}\n${DEEPER}${print(DEEPER, ",")}`;
}

function printParameters({ fields, takesContext }: ToolSource, { input, context }: ModuleNames): string {
  const first = fields.length > 0 ? input : `_${input}`;
  if (takesContext) return `${first}, ${context}`;
  return fields.length > 0 ? input : "";
}

/** Prints the call of the function. `beside` is the other code on the same line. */
function printCall(tool: ToolSource, names: ModuleNames, indent: string, beside: string): string {
  const called = names.functions.get(tool) ?? tool.functionName;
  const given = tool.fields.map((field) => convertField(field, names, `${indent}  `));
  const words = tool.takesContext ? [...given, names.context] : given;
  const flat = `${called}(${words.join(", ")})`;
  const fits = !flat.includes("\n") && indent.length + beside.length + flat.length <= LINE_WIDTH;
  return fits ? flat : `${called}${printLines("(", words, ")", indent)}`;
}

function printBlock(statements: readonly string[]): string {
  return ["{", ...statements.map((statement) => `${DEEPER}${statement}`), `${INDENT}}`].join("\n");
}

/**
 * Whether the function's type may contain readonly lists or properties with the value undefined, which a schema's type
 * cannot.
 */
function isLoose(output: Shape): boolean {
  return someShape(
    output,
    (part) =>
      (part.kind === "list" && part.isReadonly) ||
      (part.kind === "object" && part.fields.some(({ isOptional }) => isOptional)),
  );
}
