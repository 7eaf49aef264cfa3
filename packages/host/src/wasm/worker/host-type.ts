import { I32, I64 } from "@narthex/meter";

/** The type of the one function that a module may import: code, place and length, for place and length of the answer. */
export const HOST_TYPE = { params: new Uint8Array([I32, I32, I32]), results: new Uint8Array([I64]) };
