/** Value types as encoded. */
export const I32 = 0x7f;
export const I64 = 0x7e;
export const F32 = 0x7d;
export const F64 = 0x7c;
export const V128 = 0x7b;
export const FUNCREF = 0x70;
export const EXTERNREF = 0x6f;

/** The result type of opcodes that have no result. */
export const NOTHING = 0;

/** Set on a float that may be a NaN with unspecified bits: the result of arithmetic. */
export const LOOSE = 0x80;

export function isValueType(byte: number): boolean {
  return (byte >= V128 && byte <= I32) || byte === FUNCREF || byte === EXTERNREF;
}

export function isFloat(type: number): boolean {
  return type === F32 || type === F64;
}

export interface Signature {
  readonly params: Uint8Array;
  readonly results: Uint8Array;
}

/** A string that is the same for equal signatures. */
export function signatureText({ params, results }: Signature): string {
  return `${params.join()}:${results.join()}`;
}
