import type { Node, Symbol as TypeSymbol, Type } from "ts-morph";
import { readIntegerTag, readText } from "./doc-text.ts";
import type { Field, Shape } from "./shape.ts";
import { inside, type ReadShape, refuseType, type ShapePlace } from "./shape-place.ts";

/** The shape of a plain object type, of an intersection of such types, or of a record. */
export function readObject(type: Type, place: ShapePlace, read: ReadShape): Shape | undefined {
  const parts = type.isIntersection() ? type.getIntersectionTypes() : [type];
  if (!parts.every((part) => isPlain(part, place))) return refuseType(type, place);
  const values = type.getStringIndexType();
  const properties = type.getProperties();
  if (values !== undefined && properties.length === 0 && parts.length === 1) {
    const shape = read(values, inside(place, type, "[*]"), "required");
    return shape && { kind: "record", values: shape };
  }
  if (values !== undefined || properties.length === 0) return refuseType(type, place);
  const fields = properties.map((property) => readProperty(property, type, place, read));
  return fields.every((field) => field !== undefined) ? { kind: "object", fields } : undefined;
}

/** Whether a type is neither a function, nor a class with a prototype, nor built into the language. */
function isPlain(type: Type, { compiler }: ShapePlace): boolean {
  if (!type.isObject() || type.isClass()) return false;
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) return false;
  if (type.getNumberIndexType() !== undefined && type.getStringIndexType() === undefined) return false;
  const declarations = type.getSymbol()?.getDeclarations() ?? [];
  const { isClassDeclaration, isClassExpression } = compiler.Node;
  if (declarations.some((node) => isClassDeclaration(node) || isClassExpression(node))) return false;
  // `Partial` and the like are built in too, but only describe how to derive one object type from another.
  return declarations.every((node) => node.getKind() === compiler.SyntaxKind.MappedType || !isOfLanguage(node));
}

function isOfLanguage(node: Node): boolean {
  return /\/node_modules\/typescript\/lib\/lib\.[^/]+\.d\.ts$/.test(node.getSourceFile().getFilePath());
}

function readProperty(property: TypeSymbol, owner: Type, place: ShapePlace, read: ReadShape): Field | undefined {
  const { SymbolFlags } = place.compiler;
  const name = property.getName();
  const isSymbol = name.startsWith("__@");
  const own = inside(place, owner, isSymbol ? "[symbol]" : `.${name.replaceAll(/[^\w$-]/g, "?")}`);
  if (isSymbol || name === "__proto__") return own.refuse(`${own.path} has a name that JSON cannot hold`);
  if (property.hasFlags(SymbolFlags.Method)) return own.refuse(`${own.path} is a method, which has no schema`);
  const isOptional = property.hasFlags(SymbolFlags.Optional);
  const shape = read(property.getTypeAtLocation(place.node), own, isOptional ? "optional" : "required");
  if (shape === undefined) return undefined;
  const declarations = property.getDeclarations();
  const isTagged = declarations.some((node) => readIntegerTag(node, place.compiler));
  if (isTagged && shape.kind !== "number") return own.refuse(`${own.path} is marked @integer and is no number`);
  return {
    name,
    shape: isTagged ? { kind: "integer", isBigint: false } : shape,
    isOptional,
    description: declarations.map((node) => readText(node, place.compiler)).find((text) => text !== "") ?? "",
  };
}
