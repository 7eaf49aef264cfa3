/**
 * Whether the todo list of a rebase in progress (`.git/rebase-merge/git-rebase-todo`) has a line that runs a program.
 * SECURITY: `rebase --continue` and `--skip` run such lines even if an attacker wrote them; no setting switches them
 * off. The operation must not start while there is one.
 */
export function todoRunsPrograms(todo: Uint8Array): boolean {
  return /^[ \t]*(?:exec|x)[ \t\r]/m.test(new TextDecoder("latin1").decode(todo));
}
