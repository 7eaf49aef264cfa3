import type { Node, Type } from "ts-morph";
import type { Compiler } from "./compiler.ts";
import type { Shape } from "./shape.ts";

/** The position of a type in a signature, and the way to report problems with it. */
export interface ShapePlace {
  readonly compiler: Compiler;
  /** The parameter or function that the type belongs to. */
  readonly node: Node;
  /** As shown in messages: "`options.limit`". */
  readonly path: string;
  readonly direction: "input" | "output";
  /** Whether the type is inferred from code rather than written. Not all of that code is parsed. */
  readonly isInferred: boolean;
  /** The enclosing types, outermost first. */
  readonly around: readonly Type[];
  /** How many parts the whole type may still have. */
  readonly budget: { parts: number };
  refuse(message: string): undefined;
}

/** Converts the type at a place to a shape; ignores `undefined` in the type of an optional part. */
export type ReadShape = (type: Type, place: ShapePlace, presence: "required" | "optional") => Shape | undefined;

/** The place of a part of a type. */
export function inside(place: ShapePlace, type: Type, step: string): ShapePlace {
  return { ...place, path: place.path.replace(/`$/, () => `${step}\``), around: [...place.around, type] };
}

export function refuseType(type: Type, place: ShapePlace, reason = "which has no schema"): undefined {
  return place.refuse(`${place.path} has the type \`${showType(type, place)}\`, ${reason}`);
}

const MAX_TYPE_LENGTH = 80;

function showType(type: Type, { compiler, node }: ShapePlace): string {
  const text = type.getText(node, compiler.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope);
  const line = text.replaceAll(/[\s`\p{C}]+/gu, " ");
  return line.length > MAX_TYPE_LENGTH ? `${line.slice(0, MAX_TYPE_LENGTH)}…` : line;
}
