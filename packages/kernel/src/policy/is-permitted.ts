/**
 * Whether an evaluation permits the request.
 *
 * SECURITY: the policy of an embedding program can return anything; only the value `true` without errors permits.
 * Tested by "a malformed policy decision denies".
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
