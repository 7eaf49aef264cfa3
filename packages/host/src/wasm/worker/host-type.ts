import { I32, I64 } from "@narthex/meter";

/**
 * Type of the only function that a module may import: takes code, address and length; returns address and length of the
 * response.
 */
export const HOST_TYPE = { params: new Uint8Array([I32, I32, I32]), results: new Uint8Array([I64]) };
