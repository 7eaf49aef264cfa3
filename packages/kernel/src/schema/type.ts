/**
 * The schema builder, from here so that a tool's author and the kernel's type inference use one version of it.
 * Everything it builds is plain JSON Schema; refinements and codecs are refused, being code.
 */
export { type Static, type TSchema, Type } from "typebox";
