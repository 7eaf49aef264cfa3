/** The JSON values that a TypeScript type describes. */
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
  /** Empty without a description. */
  readonly description: string;
}

/** Whether the test holds for some part of a shape. */
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
