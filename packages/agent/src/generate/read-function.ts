import { isKernelError, type Violation } from "@narthex/contracts";
import { checkDeclaration, defineTool, EFFECT_RIGHTS, quoteText } from "@narthex/kernel";
import type { FunctionDeclaration, JSDocTag, Type } from "ts-morph";
import type { Compiler } from "./compiler.ts";
import { lastDoc, readText } from "./doc-text.ts";
import type { MarkedFunction } from "./find-functions.ts";
import { readParameters } from "./read-parameters.ts";
import { MAX_PARTS, readShape } from "./read-shape.ts";
import { readTags } from "./read-tags.ts";
import type { Shape } from "./shape.ts";
import { objectSchema, shapeSchema } from "./shape-schema.ts";
import type { SourceProblems } from "./source-problems.ts";
import { toolName } from "./tool-name.ts";
import type { ToolSource } from "./tool-source.ts";

/** Converts a function to a tool; reports problems and returns undefined if it cannot be one. */
export function readFunction(
  { declaration, name, exportName }: MarkedFunction,
  compiler: Compiler,
  problems: SourceProblems,
): ToolSource | undefined {
  const before = problems.count;
  const tags = lastDoc(declaration, compiler)?.getTags() ?? [];
  const { name: chosen, ...settings } = readTags(tags, problems);
  const { fields, takesContext } = readParameters(declaration, tags, compiler, problems);
  const output = readOutput(declaration, compiler, problems);
  const description = readText(declaration, compiler);
  const tool: ToolSource = {
    file: declaration.getSourceFile().getFilePath(),
    functionName: name,
    exportName,
    name: chosen ?? toolName(name),
    description,
    inputSchema: objectSchema(fields),
    outputSchema: shapeSchema(output ?? { kind: "null" }),
    ...settings,
    capabilities: (settings.effects ?? []).map((effect) => EFFECT_RIGHTS[effect]),
    fields,
    takesContext,
    output,
  };
  const place = declaration.getNameNode() ?? declaration;
  if (description === "") problems.add(place, `\`${name}\` has no description: say in its doc comment what it does`);
  else if (problems.count === before) {
    for (const violation of inspect(tool)) {
      const isOfFunction = violation.field === "name" && chosen === undefined;
      problems.add((isOfFunction ? undefined : tagOf(violation, tags)) ?? place, describe(violation, tool));
    }
  }
  return problems.count > before ? undefined : tool;
}

/** The shape of the value that the async function returns; undefined if it returns nothing. */
function readOutput(declaration: FunctionDeclaration, compiler: Compiler, problems: SourceProblems): Shape | undefined {
  const node = declaration.getReturnTypeNode() ?? declaration.getNameNode() ?? declaration;
  const type = promised(declaration.getReturnType());
  if (type.isVoid() || type.isUndefined()) return undefined;
  const isInferred = declaration.getReturnTypeNode() === undefined;
  const place = { compiler, node, isInferred, direction: "output", around: [], budget: { parts: MAX_PARTS } } as const;
  const refuse = (message: string): undefined => problems.add(node, message);
  return readShape(type, { ...place, path: "`result`", refuse }, "required");
}

function promised(type: Type): Type {
  return type.getSymbol()?.getName() === "Promise" ? (type.getTypeArguments()[0] ?? type) : type;
}

/** The violations for which the registry would refuse the tool. */
function inspect(tool: ToolSource): readonly Violation[] {
  const { name, description, inputSchema, outputSchema, effects, capabilities, determinism, tier, version } = tool;
  try {
    const made = defineTool({
      name,
      description,
      inputSchema: true,
      capabilities,
      ...(effects && { effects }),
      ...(determinism && { determinism }),
      ...(tier && { tier }),
      ...(version !== undefined && { version }),
      run: () => null,
    });
    checkDeclaration({ ...made, inputSchema, outputSchema });
    return [];
  } catch (fault) {
    if (isKernelError(fault)) return fault.violations;
    throw fault;
  }
}

function tagOf({ field }: Violation, tags: readonly JSDocTag[]): JSDocTag | undefined {
  const [top = ""] = /^\w+/.exec(field) ?? [];
  return tags.find((tag) => tag.getTagName() === (top === "name" ? "tool" : top));
}

function describe({ field, message }: Violation, { name }: ToolSource): string {
  return field === "name" ? `the tool's name ${quoteText(name)} ${message}` : `${field}: ${message}`;
}
