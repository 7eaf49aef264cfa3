import type { Node, Type } from "ts-morph";
import type { Compiler } from "./compiler.ts";
import type { Shape } from "./shape.ts";

/** Where in a signature a type stands, and whom to tell what is wrong with it. */
export interface ShapePlace {
  readonly compiler: Compiler;
  /** The parameter or function that it belongs to. */
  readonly node: Node;
  /** As messages call it: "`options.limit`". */
  readonly path: string;
  readonly direction: "input" | "output";
  /** Nobody wrote it: it follows from code, of which not everything is read. */
  readonly isInferred: boolean;
  /** The types around it, outermost first. */
  readonly around: readonly Type[];
  /** How many parts the whole may still have. */
  readonly budget: { parts: number };
  refuse(message: string): undefined;
}

/** Reads the type at a place; of what is optional, `undefined` is left out. */
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
