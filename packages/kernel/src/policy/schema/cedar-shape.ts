/** The Cedar types that values visible to rules can have. */
export type CedarShape = PlainShape | SetShape | RecordShape;

export interface PlainShape {
  readonly kind: "string" | "long" | "bool";
}

export interface SetShape {
  readonly kind: "set";
  readonly element: PlainShape;
}

export interface RecordShape {
  readonly kind: "record";
  /** Sorted by name. */
  readonly attributes: readonly ShapeAttribute[];
}

export interface ShapeAttribute {
  readonly name: string;
  readonly required: boolean;
  readonly shape: CedarShape;
}

export const STRING: PlainShape = { kind: "string" };
export const LONG: PlainShape = { kind: "long" };
export const BOOL: PlainShape = { kind: "bool" };
export const STRINGS: SetShape = { kind: "set", element: STRING };
export const EMPTY_RECORD: RecordShape = { kind: "record", attributes: [] };

/** Creates a record shape. Of two attributes with the same name the later one wins. */
export function recordShape(attributes: readonly ShapeAttribute[]): RecordShape {
  const byName = new Map(attributes.map((attribute) => [attribute.name, attribute]));
  return { kind: "record", attributes: [...byName.values()].sort((left, right) => (left.name < right.name ? -1 : 1)) };
}

export function required(name: string, shape: CedarShape): ShapeAttribute {
  return { name, required: true, shape };
}

export function optional(name: string, shape: CedarShape): ShapeAttribute {
  return { name, required: false, shape };
}
