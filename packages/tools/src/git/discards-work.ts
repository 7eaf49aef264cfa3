import { type OptionWords, type PlainOptions, plainOptions, readOptions } from "../shell/plain-options.ts";
import type { GitOperationName } from "./git-operations.ts";

/** Whether these arguments, without the command, keep all work. */
type KeepsWork = (args: readonly string[]) => boolean;

const always: KeepsWork = () => true;
const SHOWS = new Set(["-q", "--quiet", "-v", "--verbose", "--progress", "--no-progress"]);

/**
 * SECURITY: lists the uses that keep work, so that an option or operand that is not listed here counts as one that
 * discards it. `CHECKOUT NAME` is not listed: NAME can be a file, whose changes git then replaces.
 */
const KEEPS_WORK: Readonly<Record<Lowercase<GitOperationName> | "switch" | "restore", KeepsWork>> = {
  status: always,
  diff: always,
  log: always,
  show: always,
  add: always,
  commit: always,
  // Clones into a directory that is new or empty.
  clone: always,
  // Changes the remote repository only.
  push: always,
  // Without `+`, git only fast-forwards a branch.
  fetch: only({
    flags: "--all -a --append --atomic -t --tags -n --no-tags --dry-run --unshallow --no-write-fetch-head",
    operand: /^(?![-+])/,
  }),
  pull: only({
    flags: `--all -t --tags --no-tags --no-rebase --ff --no-ff --ff-only --commit --no-commit --squash --no-squash --no-edit
      --stat --no-stat -n --no-verify --dry-run`,
    operand: /^(?![-+])/,
  }),
  branch: either(
    only({
      flags: `-vv -r --remotes -a --all -l --list -m --move -c --copy --show-current --create-reflog --no-track
        --unset-upstream -i --ignore-case --no-color --no-column --no-abbrev`,
      values: "-u --set-upstream-to --sort --format --points-at",
      attached: "-t --track --color --column --abbrev --contains --no-contains --merged --no-merged",
    }),
    // Git itself refuses to delete an unmerged branch, but not one of `--remotes`.
    only({ flags: "-d --delete" }),
  ),
  checkout: both(
    only({
      flags: "-d --detach -l --guess --no-guess --no-track --no-overwrite-ignore",
      values: "-b --orphan",
      attached: "-t --track",
    }),
    takesNoPaths,
  ),
  switch: only({
    flags: "-d --detach --guess --no-guess --no-track --no-overwrite-ignore",
    values: "-c --create --orphan",
    attached: "-t --track",
  }),
  restore: both(only({ flags: "-S --staged", values: "-s --source" }), (args) =>
    args.some((arg) => arg === "--staged" || /^-q*S/.test(arg)),
  ),
  reset: both(only({ flags: "--no-quiet --refresh --no-refresh --mixed --soft -N --intent-to-add" }), staysAtItsCommit),
  stash: startsWith("list show create pop apply branch"),
  tag: only({
    flags: "-a --annotate -l --list --create-reflog -i --ignore-case --no-column --no-color",
    values: "-m --message --sort --cleanup --format",
    attached: "-n --color --column --contains --no-contains --merged --no-merged --points-at",
  }),
  // `--abort` discards conflict resolutions; `--autostash` may end in conflicts with the stashed changes.
  merge: only({
    flags: `-n --stat --no-stat --squash --no-squash --commit --no-commit --ff --no-ff --ff-only --no-edit --signoff
      --no-signoff --no-autostash --allow-unrelated-histories --no-log --no-verify --no-gpg-sign --quit --continue
      --no-rerere-autoupdate --summary --no-summary --no-overwrite-ignore`,
    values: "-m --message -s --strategy -X --strategy-option --cleanup --into-name",
    attached: "--log",
  }),
  // A rebase may drop commits; its other steps continue one that a person has approved.
  rebase: startsWith("--continue --quit --show-current-patch"),
  // `remove` deletes the remote's branches in this repository.
  remote: either(only({ operand: /(?!)/ }), startsWith("add rename show get-url set-url set-branches set-head")),
};

/**
 * Whether a git command may discard uncommitted changes, or commits that no other branch has. False for commands that
 * are not listed here; the policy for shell commands does not list those either.
 */
export function discardsWork(command: string, args: readonly string[]): boolean {
  return Object.hasOwn(KEEPS_WORK, command) && !KEEPS_WORK[command as keyof typeof KEEPS_WORK](args);
}

function only(words: OptionWords): KeepsWork {
  const options: PlainOptions = plainOptions({ ...words, joined: true });
  const plain = { ...options, flags: new Set([...options.flags, ...SHOWS]) };
  return (args) => !readOptions(args, plain).unknown;
}

function both(one: KeepsWork, other: KeepsWork): KeepsWork {
  return (args) => one(args) && other(args);
}

function either(one: KeepsWork, other: KeepsWork): KeepsWork {
  return (args) => one(args) || other(args);
}

/** Git and the grammars accept these options only as the first argument, or alone. */
function startsWith(names: string): KeepsWork {
  const known = new Set(names.split(" "));
  return ([first = ""]) => known.has(first);
}

/** With these options git rejects paths; with `--` at the end it treats the operand before it as a commit. */
function takesNoPaths(args: readonly string[]): boolean {
  return args.at(-1) === "--" || args.some((arg) => /^(?:-[qldt]*[bdt]|--(?:orphan|detach|track)(?:=|$))/.test(arg));
}

/** Without paths, any commit other than HEAD is one that the branch moves to. */
function staysAtItsCommit(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const [first] = (end === -1 ? args : args.slice(0, end)).filter((arg) => !arg.startsWith("-"));
  return first === undefined || first === "HEAD" || first === "@";
}
