import type { Type } from "ts-morph";
import { readObject } from "./read-object.ts";
import type { Literal, Shape } from "./shape.ts";
import { inside, type ReadShape, refuseType, type ShapePlace } from "./shape-place.ts";

/** SECURITY: a few lines of types can describe endless JSON; these limits prevent that. */
const MAX_DEPTH = 24;
export const MAX_PARTS = 2_000;

/** Converts a type to a shape; reports a problem and returns undefined if that is impossible. */
export const readShape: ReadShape = (type, place, presence) => {
  if (presence === "required") return readType(type, place);
  const parts = partsOf(type).filter((part) => !part.isUndefined());
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? readType(only, place) : readUnion(parts, type, place);
};

/** Recognized by the mark in the declarations that sources get for `narthex`. */
export function isToolContext(type: Type): boolean {
  const parts = partsOf(type).filter((part) => !part.isUndefined());
  return parts.length > 0 && parts.every((part) => part.getProperty("narthex:context") !== undefined);
}

function isInteger(type: Type): boolean {
  return type.isIntersection() && type.getProperty("narthex:integer") !== undefined;
}

function readType(type: Type, place: ShapePlace): Shape | undefined {
  const { path, refuse, budget } = place;
  budget.parts -= 1;
  // Reported once; the remaining parts are not examined.
  if (budget.parts < 0) return budget.parts === -1 ? refuse(`${path} has more than ${MAX_PARTS} parts`) : undefined;
  if (place.around.length > MAX_DEPTH) return refuse(`${path} is nested deeper than ${MAX_DEPTH} levels`);
  if (isUnresolved(type)) {
    return refuse(`${path} has a type that cannot be found${place.isInferred ? ": write the type of the result" : ""}`);
  }
  if (isInteger(type)) return { kind: "integer", isBigint: false };
  if (type.isEnum() || type.isEnumLiteral()) return refuseType(type, place, "an enum: use a union of literals");
  if (type.isUnion() && !type.isBoolean()) return readUnion(type.getUnionTypes(), type, place);
  if (isLiteral(type)) return { kind: "literals", values: [literalValue(type)] };
  if (type.isUndefined() || type.isVoid()) return refuse(`${path} may be undefined, which JSON cannot say`);
  if (type.isNull()) return { kind: "null" };
  if (type.isString()) return { kind: "string" };
  if (type.isBoolean()) return { kind: "boolean" };
  if (type.isNumber()) return { kind: "number" };
  if (type.isBigInt()) return readBigint(place);
  return readCompound(type, place);
}

/** Whether the compiler substituted its error type because it did not find the real one. */
function isUnresolved(type: Type): boolean {
  const { compilerType } = type;
  return type.isAny() && "intrinsicName" in compilerType && compilerType.intrinsicName === "error";
}

/** The members of a union; a boolean counts as one type. */
function partsOf(type: Type): readonly Type[] {
  return type.isUnion() && !type.isBoolean() ? type.getUnionTypes() : [type];
}

function readUnion(parts: readonly Type[], whole: Type, place: ShapePlace): Shape | undefined {
  if (parts.some((part) => part.isUndefined())) {
    return place.refuse(`${place.path} may be undefined, which JSON cannot say: make it null, or optional with \`?\``);
  }
  const hasNull = parts.some((part) => part.isNull());
  const others = parts.filter((part) => !part.isNull());
  if (others.length === 2 && others.every((part) => part.isBooleanLiteral())) {
    return withNull({ kind: "boolean" }, hasNull);
  }
  if (others.every((part) => isLiteral(part) && !part.isEnumLiteral())) {
    place.budget.parts -= others.length;
    return { kind: "literals", values: [...others.map(literalValue), ...(hasNull ? [null] : [])] };
  }
  const [only] = others;
  if (only === undefined || others.length > 1) {
    return refuseType(whole, place, "a union of more than literals, null and one other type");
  }
  const shape = readType(only, place);
  return shape && withNull(shape, hasNull);
}

function withNull(shape: Shape, hasNull: boolean): Shape {
  return hasNull ? { kind: "nullable", of: shape } : shape;
}

function readBigint({ direction, path, refuse }: ShapePlace): Shape | undefined {
  if (direction === "input") return { kind: "integer", isBigint: true };
  return refuse(`${path} is a bigint, which JSON cannot say: answer a number or a string`);
}

function readCompound(type: Type, place: ShapePlace): Shape | undefined {
  if (place.around.includes(type)) return refuseType(type, place, "which refers to itself");
  if (type.isTuple()) return refuseType(type, place, "a tuple: use an array or an object");
  if (!type.isArray() && !type.isReadonlyArray()) return readObject(type, place, readShape);
  const items = readType(type.getArrayElementTypeOrThrow(), inside(place, type, "[]"));
  return items && { kind: "list", items, isReadonly: type.isReadonlyArray() };
}

function isLiteral(type: Type): boolean {
  return type.isStringLiteral() || type.isNumberLiteral() || type.isBooleanLiteral();
}

function literalValue(type: Type): Literal {
  if (type.isBooleanLiteral()) return type.getText() === "true";
  const value = type.getLiteralValue();
  return typeof value === "string" || typeof value === "number" ? value : null;
}
