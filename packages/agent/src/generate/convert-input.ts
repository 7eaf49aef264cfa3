import { LINE_WIDTH, printAccess, printKey, printLines } from "./print-value.ts";
import { type Field, type Shape, someShape } from "./shape.ts";

/** Names of the variables in generated code. */
export interface CodeNames {
  readonly input: string;
  readonly context: string;
  readonly item: string;
  readonly key: string;
  readonly value: string;
}

/**
 * Prints the argument for one field of the input: the field itself, with `BigInt` where the function expects a bigint.
 */
export function convertField({ name, shape, isOptional }: Field, names: CodeNames, indent: string): string {
  const given = printAccess(names.input, name);
  if (!isOptional || !hasBigint(shape)) return convert(shape, given, names, indent);
  const converted = convert(shape, given, names, `${indent}  `);
  return printChoice(`${given} === undefined`, "undefined", converted, indent);
}

function hasBigint(shape: Shape): boolean {
  return someShape(shape, (part) => part.kind === "integer" && part.isBigint);
}

function convert(shape: Shape, given: string, names: CodeNames, indent: string): string {
  if (!hasBigint(shape)) return given;
  switch (shape.kind) {
    case "integer":
      return `BigInt(${given})`;
    case "nullable":
      return printChoice(`${given} === null`, "null", convert(shape.of, given, names, `${indent}  `), indent);
    case "list":
      return `${given}.map((${names.item}) => ${asBody(convert(shape.items, names.item, names, indent))})`;
    case "record": {
      const pair = `[${names.key}, ${convert(shape.values, names.value, names, indent)}]`;
      return `Object.fromEntries(Object.entries(${given}).map(([${names.key}, ${names.value}]) => ${pair}))`;
    }
    case "object":
      return printObject(
        shape.fields.map((field) => convertProperty(field, given, names, `${indent}  `)),
        indent,
      );
    default:
      return given;
  }
}

/** A missing property must stay missing: a property that is undefined is not the same. */
function convertProperty({ name, shape, isOptional }: Field, object: string, names: CodeNames, indent: string): string {
  const given = printAccess(object, name);
  if (!isOptional) return `${printKey(name)}: ${convert(shape, given, names, indent)}`;
  const property = `${printKey(name)}: ${convert(shape, given, names, `${indent}  `)}`;
  return `...(${given} !== undefined && ${printObject([property], indent)})`;
}

function printChoice(test: string, short: string, long: string, indent: string): string {
  const flat = `${test} ? ${short} : ${long}`;
  return isShort(flat, indent) ? flat : `${test}\n${indent}  ? ${short}\n${indent}  : ${long}`;
}

function printObject(properties: readonly string[], indent: string): string {
  const flat = `{ ${properties.join(", ")} }`;
  return isShort(flat, indent) ? flat : printLines("{", properties, "}", indent);
}

/** Whether the code fits on one line after some preceding text. */
function isShort(code: string, indent: string): boolean {
  return !code.includes("\n") && indent.length + code.length < LINE_WIDTH * 0.75;
}

function asBody(expression: string): string {
  return expression.startsWith("{") ? `(${expression})` : expression;
}
