/** A whole number: what `narthex generate` makes an integer of the schema. To the compiler it is any number. */
export type Integer = number;
