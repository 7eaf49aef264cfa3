import type { GitOperationName } from "./git-operations.ts";

/** The options of one operation, or of one of its subcommands, that callers may use. */
export interface GitGrammar {
  /** Options without a value. */
  readonly flags: ReadonlySet<string>;
  /** Options with a value: `--opt VALUE`, `--opt=VALUE`, `-m VALUE`, `-mVALUE`. */
  readonly values: ReadonlySet<string>;
  /** Options without a value or with an attached one: `--opt`, `--opt=VALUE`, `-M50%`. */
  readonly attached: ReadonlySet<string>;
  /** Options whose value is the next argument if there is one: `--contains`, `--contains COMMIT`. */
  readonly lastDefaults: ReadonlySet<string>;
  /** Arguments that the kernel puts first. */
  readonly forced: readonly string[];
  /** `-5` for `-n 5`. */
  readonly count: boolean;
  /** `-` for the previous branch. */
  readonly dash: boolean;
  /** Positions of the operands that are addresses of repositories. */
  readonly urls: readonly number[];
  /** Whether a remote's name is valid instead of an address. */
  readonly remoteNames: boolean;
  /** Options that must be the only argument; with one of them no forced arguments are added. */
  readonly alone: ReadonlySet<string>;
  /** Operands must not lead out of the directory. */
  readonly inside: boolean;
  /** Takes paths: after `--` an operand may start with a dash. */
  readonly paths: boolean;
  /** Subcommands by name; the empty name stands for the command without a subcommand. */
  readonly subcommands: ReadonlyMap<string, GitGrammar> | undefined;
  /** Allowed values of options that accept only some. */
  readonly choices: ReadonlyMap<string, RegExp>;
}

const STRATEGY_OPTION = /^[a-z][a-z-]*(?:=[\w./%-]+)?$/;
const STRATEGY = new Map([
  ["-X", STRATEGY_OPTION],
  ["--strategy-option", STRATEGY_OPTION],
  // Any other name is a program `git-merge-NAME`.
  ["-s", /^(?:ort|recursive|resolve|octopus|ours|subtree)$/],
  ["--strategy", /^(?:ort|recursive|resolve|octopus|ours|subtree)$/],
]);
const NO_PROGRAMS = ["--no-ext-diff", "--no-textconv"];

/**
 * Options of log, show, diff and stash that control how differences are computed and shown. None writes a file or runs
 * a program.
 */
const DIFF_FLAGS = words(
  `-p -u --patch -s --no-patch --raw --patch-with-raw --patch-with-stat --numstat --shortstat --summary --name-only
  --name-status -z --full-index --binary --no-renames -R --pickaxe-all --pickaxe-regex -a --text --ignore-cr-at-eol
  --ignore-space-at-eol -b --ignore-space-change -w --ignore-all-space --ignore-blank-lines -W --function-context
  --exit-code --quiet -q --check --minimal --patience --histogram --indent-heuristic --no-indent-heuristic --no-prefix
  --no-relative --no-color --no-ext-diff --no-textconv --find-copies-harder --cumulative --compact-summary --cc
  --ita-invisible-in-index --no-color-moved`,
);
const DIFF_VALUES = words(
  `-S -G -l --diff-algorithm --anchored --inter-hunk-context --src-prefix --dst-prefix --diff-filter
  --ws-error-highlight -I --ignore-matching-lines`,
);
const DIFF_ATTACHED = words(
  "-U --unified --stat --dirstat -M --find-renames -C --find-copies -B --break-rewrites --abbrev --word-diff --color --relative --color-words --color-moved",
);
const LOG_FLAGS = words(
  `${DIFF_FLAGS.join(" ")} --all --branches --tags --remotes --oneline --graph --no-graph --merges --no-merges
  --first-parent --reverse --topo-order --date-order --author-date-order --follow --full-history --simplify-merges
  --simplify-by-decoration --dense --sparse --show-pulls --ancestry-path --boundary --left-right --left-only --right-only
  --cherry --cherry-pick --cherry-mark --parents --children --no-decorate --source --abbrev-commit --no-abbrev-commit
  --relative-date --walk-reflogs -g -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp
  --all-match --invert-grep --no-notes --no-mailmap --use-mailmap --mailmap --root -m --no-diff-merges --log-size
  --clear-decorations --no-expand-tabs --show-linear-break --no-walk --single-worktree --merge --not -t`,
);
const LOG_VALUES = words(
  `${DIFF_VALUES.join(" ")} -n --max-count --skip --since --after --until --before --author --committer --grep --min-parents
  --max-parents --date --diff-merges --since-as-filter --encoding -L --decorate-refs --decorate-refs-exclude --exclude --glob --grep-reflog`,
);
const LOG_ATTACHED = words(
  `${DIFF_ATTACHED.join(" ")} --format --pretty --decorate --branches --tags --remotes --notes --no-walk
  --show-linear-break --expand-tabs`,
);

const LOG = grammar({
  flags: LOG_FLAGS,
  values: LOG_VALUES,
  attached: LOG_ATTACHED,
  forced: ["--no-show-signature", ...NO_PROGRAMS],
  count: true,
  paths: true,
});
const QUIET = words("-q --quiet -v --verbose --progress --no-progress");
const MERGE_FLAGS = words(
  `${QUIET.join(" ")} -n --stat --no-stat --squash --no-squash --commit --no-commit --ff --no-ff --ff-only --no-edit
  --signoff --no-signoff --autostash --no-autostash --allow-unrelated-histories --no-log --no-verify --no-gpg-sign`,
);

/**
 * SECURITY: an option that is not listed is refused, even if it is harmless; so is every abbreviation of a listed one.
 */
export const GIT_GRAMMARS: Readonly<Record<GitOperationName, GitGrammar>> = {
  CLONE: grammar({
    flags: words(
      `${QUIET.join(" ")} -n --no-checkout --bare --mirror --single-branch --no-single-branch --no-tags --sparse
      --reject-shallow --no-reject-shallow`,
    ),
    values: words("-b --branch -o --origin --depth --shallow-since --shallow-exclude --filter"),
    choices: new Map([
      ["--filter", /^(?:blob:none|blob:limit=\d+[kmg]?|tree:\d+)$/],
      ["-o", /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/],
      ["--origin", /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/],
    ]),
    forced: ["--template=", "--no-recurse-submodules", "--no-local"],
    urls: [0],
  }),
  FETCH: grammar({
    flags: words(
      `${QUIET.join(" ")} --all -a --append --atomic -f --force -t --tags -n --no-tags -p --prune --no-prune
      -P --prune-tags --dry-run -k --keep --unshallow --refetch --update-shallow --no-write-fetch-head
      --show-forced-updates --no-show-forced-updates`,
    ),
    values: words("--depth --deepen --shallow-since --shallow-exclude --refmap --negotiation-tip"),
    forced: ["--no-recurse-submodules", "--no-auto-maintenance"],
    urls: [0],
    remoteNames: true,
  }),
  PULL: grammar({
    flags: [
      ...MERGE_FLAGS,
      ...words("--all -a --append -f --force -t --tags --no-tags -p --prune --no-rebase --dry-run --unshallow -r"),
    ],
    values: words("-s --strategy -X --strategy-option --cleanup --depth --deepen --shallow-since"),
    attached: ["--rebase", "--log"],
    choices: new Map([...STRATEGY, ["--rebase", /^(?:|true|false|merges)$/]]),
    forced: ["--no-recurse-submodules"],
    urls: [0],
    remoteNames: true,
  }),
  DIFF: grammar({
    flags: [...DIFF_FLAGS, ...words("--cached --staged --merge-base --base --ours --theirs -0 -1 -2 -3")],
    values: DIFF_VALUES,
    attached: DIFF_ATTACHED,
    forced: [...NO_PROGRAMS, "--ignore-submodules=dirty"],
    inside: true,
    paths: true,
  }),
  COMMIT: grammar({
    flags: words(
      `-q --quiet -v --verbose -a --all --amend --no-edit --allow-empty --allow-empty-message -s --signoff --no-signoff
      -n --no-verify --dry-run --short --branch --porcelain --long -z --null -i --include -o --only --reset-author
      --status --no-status --no-gpg-sign --no-post-rewrite`,
    ),
    values: words("-m --message --author --date -C --reuse-message --fixup --squash --cleanup"),
    attached: ["-u", "--untracked-files"],
    paths: true,
  }),
  PUSH: grammar({
    flags: words(
      `${QUIET.join(" ")} --all --mirror -d --delete --tags --follow-tags --no-follow-tags -n --dry-run
      --porcelain -f --force --force-if-includes --no-force-if-includes --thin --no-thin -u --set-upstream --prune
      --no-verify --atomic`,
    ),
    attached: ["--force-with-lease"],
    forced: ["--no-signed", "--recurse-submodules=no"],
    urls: [0],
    remoteNames: true,
  }),
  STATUS: grammar({
    flags: words(
      `-v --verbose -s --short -b --branch --no-branch --show-stash --no-show-stash --ahead-behind --no-ahead-behind
      --long -z --null --renames --no-renames --no-column`,
    ),
    attached: words("--porcelain -u --untracked-files --ignored --column --find-renames"),
    forced: ["--ignore-submodules=dirty"],
    paths: true,
  }),
  LOG,
  BRANCH: grammar({
    flags: words(
      `-v -vv --verbose -q --quiet -r --remotes -a --all -l --list -d --delete -D -m --move -M -c --copy -C -f --force
      --show-current --create-reflog --no-track --unset-upstream -i --ignore-case --no-color --no-column --no-abbrev`,
    ),
    values: words("-u --set-upstream-to --sort --format --points-at"),
    attached: words("-t --track --color --column --abbrev"),
    lastDefaults: words("--contains --no-contains --merged --no-merged"),
  }),
  CHECKOUT: grammar({
    flags: words(
      `-q --quiet --progress --no-progress -f --force --ours -2 --theirs -3 -m --merge -d --detach -l --guess --no-guess
      --no-track --overlay --no-overlay --ignore-skip-worktree-bits --no-overwrite-ignore`,
    ),
    values: words("-b -B --orphan --conflict"),
    attached: words("-t --track"),
    forced: ["--no-recurse-submodules"],
    dash: true,
    paths: true,
  }),
  MERGE: grammar({
    flags: [
      ...MERGE_FLAGS,
      ...words("--abort --quit --continue --no-rerere-autoupdate --summary --no-summary --no-overwrite-ignore"),
    ],
    values: words("-m --message -s --strategy -X --strategy-option --cleanup --into-name"),
    attached: ["--log"],
    choices: STRATEGY,
    alone: words("--abort --quit --continue"),
    dash: true,
  }),
  REBASE: grammar({
    flags: words(
      `-q --quiet -v --verbose -n --no-stat --stat --keep-base --no-verify --verify --signoff --committer-date-is-author-date
      --reset-author-date --ignore-whitespace -f --force-rebase --no-ff --continue --skip --abort --quit
      --show-current-patch --apply -m --merge --no-rerere-autoupdate --autosquash --no-autosquash --update-refs
      --no-update-refs --no-gpg-sign --autostash --no-autostash --fork-point --no-fork-point --root
      --reapply-cherry-picks --no-reapply-cherry-picks --no-keep-empty --keep-empty --allow-empty-message`,
    ),
    values: words("--onto --empty -s --strategy -X --strategy-option --whitespace"),
    attached: words("-r --rebase-merges"),
    choices: STRATEGY,
    alone: words("--continue --skip --abort --quit --show-current-patch"),
    dash: true,
  }),
  ADD: grammar({
    flags: words(
      `-n --dry-run -v --verbose -f --force -u --update --renormalize -N --intent-to-add -A --all --no-all
      --ignore-removal --no-ignore-removal --refresh --ignore-errors --ignore-missing --sparse`,
    ),
    values: ["--chmod"],
    choices: new Map([["--chmod", /^[+-]x$/]]),
    paths: true,
  }),
  RESET: grammar({
    flags: words(
      "-q --quiet --no-quiet --refresh --no-refresh --mixed --soft --hard --merge --keep -N --intent-to-add",
    ),
    forced: ["--no-recurse-submodules"],
    paths: true,
  }),
  STASH: grammar({ subcommands: stashCommands() }),
  TAG: grammar({
    flags: words(
      "-a --annotate -l --list -d --delete -f --force --create-reflog -i --ignore-case --no-column --no-color",
    ),
    values: words("-m --message --sort --cleanup --format"),
    attached: words("-n --color --column"),
    lastDefaults: words("--contains --no-contains --merged --no-merged --points-at"),
  }),
  REMOTE: grammar({ subcommands: remoteCommands() }),
  SHOW: LOG,
};

function stashCommands(): Map<string, GitGrammar> {
  const push = grammar({
    flags: words(
      "-k --keep-index --no-keep-index -q --quiet -u --include-untracked --no-include-untracked -a --all -S --staged",
    ),
    values: words("-m --message"),
    paths: true,
  });
  const restore = grammar({ flags: words("--index -q --quiet") });
  return new Map([
    ["", push],
    ["push", push],
    ["list", LOG],
    [
      "show",
      grammar({
        flags: [...DIFF_FLAGS, ...words("--include-untracked --only-untracked")],
        values: DIFF_VALUES,
        attached: DIFF_ATTACHED,
        forced: NO_PROGRAMS,
      }),
    ],
    ["pop", restore],
    ["apply", restore],
    ["drop", grammar({ flags: words("-q --quiet") })],
    ["branch", grammar({})],
    ["clear", grammar({})],
    ["create", grammar({})],
  ]);
}

/** Subcommands that would contact the remote are left out; FETCH does that. */
function remoteCommands(): Map<string, GitGrammar> {
  const verbose = grammar({ flags: words("-v --verbose") });
  return new Map([
    ["", verbose],
    ["add", grammar({ flags: words("--tags --no-tags"), values: words("-t -m"), urls: [1] })],
    ["rename", grammar({ flags: ["--no-progress"] })],
    ["remove", grammar({})],
    ["rm", grammar({})],
    ["show", grammar({ forced: ["-n"], flags: ["-n"] })],
    ["get-url", grammar({ flags: words("--push --all") })],
    ["set-url", grammar({ flags: words("--push --add"), urls: [1] })],
    ["set-branches", grammar({ flags: ["--add"] })],
    ["set-head", grammar({ flags: words("-d --delete") })],
  ]);
}

interface GrammarWords {
  readonly flags?: readonly string[];
  readonly values?: readonly string[];
  readonly attached?: readonly string[];
  readonly alone?: readonly string[];
  readonly lastDefaults?: readonly string[];
}

function grammar({
  flags = [],
  values = [],
  attached = [],
  alone = [],
  lastDefaults = [],
  ...rest
}: GrammarWords & Partial<Omit<GitGrammar, keyof GrammarWords>>): GitGrammar {
  return {
    flags: new Set(flags),
    values: new Set(values),
    attached: new Set(attached),
    alone: new Set(alone),
    lastDefaults: new Set(lastDefaults),
    forced: [],
    count: false,
    dash: false,
    urls: [],
    remoteNames: false,
    inside: false,
    paths: false,
    subcommands: undefined,
    choices: new Map(),
    ...rest,
  };
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
