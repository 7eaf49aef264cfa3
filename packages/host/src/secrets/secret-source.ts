/** Source from which the kernel reads a secret at startup. */
export type SecretSource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly string[] };

/** By name. */
export type SecretSources = ReadonlyMap<string, SecretSource>;

export const SECRET_NAME_PATTERN = "^[a-z][a-z0-9_]{0,63}$";
const SECRET_NAME = new RegExp(SECRET_NAME_PATTERN);

export function isSecretName(text: string): boolean {
  return SECRET_NAME.test(text);
}
