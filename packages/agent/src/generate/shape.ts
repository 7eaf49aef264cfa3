/** What a TypeScript type says about JSON. */
export type Shape =
  | { readonly kind: "string" | "boolean" | "number" | "null" }
  | { readonly kind: "integer"; readonly isBigint: boolean }
  | { readonly kind: "literals"; readonly values: readonly Literal[] }
  | { readonly kind: "nullable"; readonly of: Shape }
  | { readonly kind: "list"; readonly items: Shape; readonly isReadonly: boolean }
  | { readonly kind: "object"; readonly fields: readonly Field[] }
  | { readonly kind: "record"; readonly values: Shape };

export type Literal = string | number | boolean | null;

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly isOptional: boolean;
  /** Empty for none. */
  readonly description: string;
}

/** Whether some part of a shape is so. */
export function someShape(shape: Shape, test: (part: Shape) => boolean): boolean {
  if (test(shape)) return true;
  switch (shape.kind) {
    case "nullable":
      return someShape(shape.of, test);
    case "list":
      return someShape(shape.items, test);
    case "record":
      return someShape(shape.values, test);
    case "object":
      return shape.fields.some((field) => someShape(field.shape, test));
    default:
      return false;
  }
}
