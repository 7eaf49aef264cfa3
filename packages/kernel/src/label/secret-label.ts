/** Label of content that came from a secret path or from the vault. */
export const SECRET = "secret";
