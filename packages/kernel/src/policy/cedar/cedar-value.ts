import type { EntityName } from "./cedar.ts";

/** A long is a number where it is safe, and a bigint only where it is not: equal longs are equal by `===`. */
export type CedarLong = number | bigint;
/** May hold equal values twice; they count once. */
export type CedarSet = readonly CedarValue[];
export interface CedarRecord {
  readonly [attribute: string]: CedarValue;
}
export type CedarValue = string | CedarLong | boolean | EntityValue | CedarSet | CedarRecord;

/** An entity as a value of an expression, so that it is never taken for a record. */
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

/** `Array.isArray` does not narrow to a readonly array. */
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
