/** An integer: `narthex generate` uses type `integer` in the schema. For the compiler it is any number. */
export type Integer = number;
