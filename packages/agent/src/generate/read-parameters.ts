import { quoteText } from "@narthex/kernel";
import type { FunctionDeclaration, JSDocTag, ParameterDeclaration } from "ts-morph";
import type { Compiler } from "./compiler.ts";
import { plainText } from "./doc-text.ts";
import { isToolContext, MAX_PARTS, readShape } from "./read-shape.ts";
import type { Field, Shape } from "./shape.ts";
import type { SourceProblems } from "./source-problems.ts";

export interface ToolParameters {
  readonly fields: readonly Field[];
  /** Whether the function's last parameter is the tool context. */
  readonly takesContext: boolean;
}

/** Converts the parameters of a function to the fields of its tool's input. A type without a schema is a problem. */
export function readParameters(
  declaration: FunctionDeclaration,
  tags: readonly JSDocTag[],
  compiler: Compiler,
  problems: SourceProblems,
): ToolParameters {
  const parameters = declaration.getParameters();
  const names = new Set(parameters.map((parameter) => parameter.getName()));
  const texts = readTexts(tags, names, compiler, problems);
  const integers = readIntegers(tags, names, problems);
  const last = parameters.at(-1);
  const takesContext = last !== undefined && isSimple(last, compiler) && isToolContext(last.getType());
  const fields = parameters.slice(0, takesContext ? -1 : undefined).flatMap((parameter): Field[] => {
    const shape = readParameter(parameter, compiler, problems);
    if (shape === undefined) return [];
    const name = parameter.getName();
    const tag = integers.get(name);
    if (tag !== undefined && shape.kind !== "number") problems.add(tag, `\`@integer\`: \`${name}\` is no number`);
    return [
      {
        name,
        shape: tag === undefined ? shape : { kind: "integer", isBigint: false },
        isOptional: parameter.isOptional(),
        description: texts.get(name) ?? "",
      },
    ];
  });
  return { fields, takesContext };
}

function readParameter(
  parameter: ParameterDeclaration,
  compiler: Compiler,
  problems: SourceProblems,
): Shape | undefined {
  const refuse = (message: string): undefined => problems.add(parameter, message);
  const name = parameter.getName();
  if (name === "this") return refuse("a tool has no `this`");
  if (!isSimple(parameter, compiler)) return refuse("a parameter cannot be destructured: give it a name");
  if (parameter.isRestParameter()) return refuse(`\`${name}\` cannot be a rest parameter: take an array`);
  if (name === "__proto__") return refuse("`__proto__` cannot be the name of a parameter");
  if (isToolContext(parameter.getType())) return refuse(`\`${name}\` has to be the last parameter`);
  const path = `\`${name}\``;
  const place = { compiler, node: parameter, path, isInferred: false, direction: "input", around: [], refuse } as const;
  const presence = parameter.isOptional() ? "optional" : "required";
  return readShape(parameter.getType(), { ...place, budget: { parts: MAX_PARTS } }, presence);
}

function isSimple(parameter: ParameterDeclaration, { Node }: Compiler): boolean {
  return Node.isIdentifier(parameter.getNameNode());
}

function readTexts(
  tags: readonly JSDocTag[],
  names: ReadonlySet<string>,
  { Node }: Compiler,
  problems: SourceProblems,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const tag of tags) {
    if (!Node.isJSDocParameterTag(tag)) continue;
    const name = tag.getName();
    if (!names.has(name)) problems.add(tag, `\`@param\` names no parameter: ${quoteText(name)}`);
    texts.set(name, plainText(tag.getCommentText()).replace(/^-\s+/, ""));
  }
  return texts;
}

/** The parameters marked as integers, each with the tag that marks it. */
function readIntegers(
  tags: readonly JSDocTag[],
  names: ReadonlySet<string>,
  problems: SourceProblems,
): ReadonlyMap<string, JSDocTag> {
  const integers = new Map<string, JSDocTag>();
  for (const tag of tags.filter((one) => one.getTagName() === "integer")) {
    for (const name of plainText(tag.getCommentText()).split(/[\s,]+/)) {
      if (!names.has(name)) problems.add(tag, `\`@integer\` names no parameter: ${quoteText(name)}`);
      integers.set(name, tag);
    }
  }
  return integers;
}
