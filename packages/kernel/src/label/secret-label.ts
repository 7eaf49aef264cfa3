/** On what came from a secret path, or out of the vault. */
export const SECRET = "secret";
