import type { EntityName } from "./cedar.ts";

/** A Cedar long: a number if it is a safe integer, otherwise a bigint. Equal longs are therefore equal by `===`. */
export type CedarLong = number | bigint;
/** May contain equal values more than once; they count as one. */
export type CedarSet = readonly CedarValue[];
export interface CedarRecord {
  readonly [attribute: string]: CedarValue;
}
export type CedarValue = string | CedarLong | boolean | EntityValue | CedarSet | CedarRecord;

/** An entity as the value of an expression. A class of its own, so that it is never mistaken for a record. */
export class EntityValue implements EntityName {
  readonly type: string;
  readonly id: string;

  constructor(type: string, id: string) {
    this.type = type;
    this.id = id;
  }
}

export function isSameEntity(left: EntityName, right: EntityName): boolean {
  return left.id === right.id && left.type === right.type;
}

/** Narrows to a readonly array, which `Array.isArray` does not. */
export function isSet(value: CedarValue): value is CedarSet {
  return Array.isArray(value);
}

export function typeNameOf(value: CedarValue): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
    case "bigint":
      return "long";
    default:
      if (value instanceof EntityValue) return "entity";
      return isSet(value) ? "set" : "record";
  }
}
