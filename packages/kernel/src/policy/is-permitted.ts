/**
 * Whether an answer is a permission.
 *
 * SECURITY: a policy of an embedding program may answer anything; only a plain `true`, and no error, is a yes.
 * Tested by "a policy that answers something like yes denies".
 */
export function isPermitted({
  allowed,
  errors,
}: {
  readonly allowed: unknown;
  readonly errors: readonly unknown[];
}): boolean {
  return allowed === true && errors.length === 0;
}
