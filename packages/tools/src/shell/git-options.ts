import { GIT_GRAMMARS, type GitGrammar } from "../git/git-grammars.ts";
import { type OptionWords, type PlainOptions, plainOptions } from "./plain-options.ts";

/** Git subcommands with known options: those of the `git` tool's grammar, and others that run no code. */
export const GIT_OPTIONS: ReadonlyMap<string, PlainOptions> = new Map([
  ["status", optionsOf(GIT_GRAMMARS.STATUS)],
  ["log", optionsOf(GIT_GRAMMARS.LOG)],
  ["show", optionsOf(GIT_GRAMMARS.SHOW)],
  ["diff", optionsOf(GIT_GRAMMARS.DIFF, { flags: "--no-index" })],
  ["add", optionsOf(GIT_GRAMMARS.ADD)],
  ["commit", optionsOf(GIT_GRAMMARS.COMMIT, { values: "-F --file" })],
  ["branch", optionsOf(GIT_GRAMMARS.BRANCH)],
  ["checkout", optionsOf(GIT_GRAMMARS.CHECKOUT)],
  ["tag", optionsOf(GIT_GRAMMARS.TAG)],
  [
    "switch",
    readOnlyOptions({
      flags: "-q --quiet -f --force --discard-changes -m --merge -d --detach --guess --no-guess --no-track -t --track",
      values: "-c --create -C --force-create --orphan",
    }),
  ],
  [
    "restore",
    readOnlyOptions({
      flags: "-q --quiet -S --staged -W --worktree --ours --theirs -m --merge --overlay --no-overlay",
      values: "-s --source",
    }),
  ],
  [
    "shortlog",
    readOnlyOptions({
      flags: "-s -n -e -c --summary --numbered --email --committer --all --merges --no-merges",
      values: "--since --until --after --before --author",
      attached: "--group --format",
    }),
  ],
  [
    "blame",
    readOnlyOptions({
      flags: `-b -l -t -f -n -s -e -w -p --root --show-stats --show-name --show-number --show-email --porcelain
        --line-porcelain --incremental --first-parent --no-progress --color-lines --color-by-age`,
      values: "-L --since --date --ignore-rev",
      attached: "-M -C --abbrev",
    }),
  ],
  [
    "ls-files",
    readOnlyOptions({
      flags: `-c -d -m -o -i -s -u -z -t -v -k --cached --deleted --modified --others --ignored --stage --unmerged --killed
        --directory --no-empty-directory --exclude-standard --full-name --error-unmatch --deduplicate --eol`,
      values: "-x --exclude",
      attached: "--abbrev",
    }),
  ],
  [
    "rev-parse",
    readOnlyOptions({
      flags: `--verify -q --quiet --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir
        --git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository
        --is-shallow-repository --all --show-superproject-working-tree`,
      values: "--git-path",
      attached: "--short --abbrev-ref --branches --tags --remotes",
    }),
  ],
  [
    "describe",
    readOnlyOptions({
      flags: "--all --tags --contains --always --long --exact-match --first-parent --debug",
      values: "--match --exclude --candidates",
      attached: "--dirty --broken --abbrev",
    }),
  ],
  [
    "grep",
    readOnlyOptions({
      flags: `-n -i -l -L -c -w -v -E -F -P -G -h -H -o -a -I -q -r -W -p -z --line-number --ignore-case --name-only
        --files-with-matches --files-without-match --count --word-regexp --invert-match --extended-regexp --fixed-strings
        --perl-regexp --only-matching --quiet --untracked --cached --heading --break --show-function --function-context
        --all-match --and --or --not --column --full-name --no-color --text`,
      values: "-e -A -B -C -m --max-count --max-depth --threads --context --after-context --before-context",
      attached: "--color",
      pattern: /^-\d{1,9}$/,
    }),
  ],
]);

function readOnlyOptions(words: OptionWords): PlainOptions {
  return plainOptions({ ...words, joined: true, operand: /^/ });
}

/** Leaves out the options that the tool forces: in a shell command, the repository's own configuration applies. */
function optionsOf(grammar: GitGrammar, more: OptionWords = {}): PlainOptions {
  const added = readOnlyOptions(more);
  return {
    ...added,
    flags: new Set([...grammar.flags, ...added.flags]),
    values: new Set([...grammar.values, ...added.values]),
    attached: new Set([...grammar.attached, ...added.attached]),
    choices: grammar.choices,
    pattern: grammar.count ? /^-\d{1,9}$/ : undefined,
  };
}
