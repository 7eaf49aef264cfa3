/**
 * Whether the list of a rebase that is under way (`.git/rebase-merge/git-rebase-todo`) has a line that runs a program.
 * SECURITY: `rebase --continue` and `--skip` run such lines whoever wrote them; no setting switches them off. The
 * operation must not start while there is one.
 */
export function todoRunsPrograms(todo: Uint8Array): boolean {
  return /^[ \t]*(?:exec|x)[ \t\r]/m.test(new TextDecoder("latin1").decode(todo));
}
