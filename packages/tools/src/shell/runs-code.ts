import { GIT_OPTIONS } from "./git-options.ts";
import { readKnownOptions } from "./read-known-options.ts";
import { type ArgumentsTest, hasOption, type OptionNames } from "./option-match.ts";
import { readOptions } from "./plain-options.ts";

const always: ArgumentsTest = () => true;

const SHELLS = "sh bash dash zsh ksh ksh93 mksh ash fish csh tcsh rbash posh pwsh powershell osascript".split(" ");
const AWKS = "awk gawk mawk nawk original-awk".split(" ");
/** Editors take commands as options, as `+command`, or from their input. */
const EDITORS = "vi vim nvim view ex ed emacs emacsclient nano pico joe mcedit".split(" ");
const REMOTE = "ssh scp sftp rsync telnet nc ncat netcat socat mosh".split(" ");
const DATABASES = "sqlite3 psql mysql mariadb mongo mongosh redis-cli duckdb".split(" ");
const CONTAINERS = "docker podman nerdctl kubectl lxc vagrant ansible systemctl".split(" ");

/**
 * Tests per program for whether these arguments make it take instructions from its command line or its standard input.
 */
const JUDGES: ReadonlyMap<string, ArgumentsTest> = new Map<string, ArgumentsTest>([
  ...[...AWKS, ...EDITORS, ...REMOTE, ...DATABASES, ...CONTAINERS].map((name): [string, ArgumentsTest] => [
    name,
    always,
  ]),
  ...SHELLS.map((name): [string, ArgumentsTest] => [name, runsShellCode]),
  ...["node", "nodejs", "bun", "deno", "tsx", "ts-node"].map((name): [string, ArgumentsTest] => [name, runsJavaScript]),
  ...["less", "more", "most"].map((name): [string, ArgumentsTest] => [
    name,
    hasOption({ letters: "kK", long: "lesskey", pattern: /^\+/ }),
  ]),
  ["perl", codeOption({ letters: "eEIMmdix" })],
  ["ruby", codeOption({ letters: "eIrnpix" })],
  ["php", codeOption({ pattern: /^-[rBREaF]/, long: "run process" })],
  ["lua", codeOption({ pattern: /^-[eil]/ })],
  ["Rscript", codeOption({ pattern: /^-e/ })],
  ["R", always],
  ["julia", codeOption({ pattern: /^-[eEL]/, long: "eval print load" })],
  ["ghc", hasOption({ pattern: /^-e/ })],
  ["guile", codeOption({ pattern: /^-[cle]/ })],
  ["tclsh", codeOption({})],
  ["jshell", always],
  ["sed", runsSedCode],
  ["gsed", runsSedCode],
  ["find", hasOption({ pattern: /^-(?:exec|execdir|ok|okdir)$/ })],
  ["fd", hasOption({ letters: "xX", long: "exec" })],
  ["fdfind", hasOption({ letters: "xX", long: "exec" })],
  ["rg", hasOption({ letters: "z", long: "hostname-bin search-zip", pattern: /^--pre(?:=|$)/ })],
  ["git", runsGitCode],
  ["man", hasOption({ letters: "PHC", long: "pager preprocessor html config-file" })],
  ["make", runsMakeCode],
  ["gmake", runsMakeCode],
  ["cmake", hasOption({ pattern: /^-[PE]/ })],
  [
    "tar",
    hasOption({
      letters: "IF",
      long: "checkpoint-action to-command use-compress-program rsh-command rmt-command info-script new-volume-script",
    }),
  ],
  ["sort", hasOption({ long: "compress-program" })],
  ["split", hasOption({ long: "filter" })],
  ["zip", hasOption({ letters: "T", long: "unzip-command" })],
  ["curl", hasOption({ letters: "K", long: "config", pattern: /^(?:file|scp|sftp):/ })],
  ["wget", hasOption({ letters: "e", long: "use-askpass execute config" })],
  ["file", hasOption({ letters: "mC", long: "magic-file compile" })],
  ["gpg", hasOption({ long: "photo-viewer exec-path agent-program dirmngr-program pinentry-mode options" })],
  ["openssl", hasOption({ pattern: /^-(?:engine|provider)/ })],
  ["gcc", hasOption({ pattern: /^--?(?:wrapper|fplugin|specs|B)/ })],
  ["cc", hasOption({ pattern: /^--?(?:wrapper|fplugin|specs|B)/ })],
  ["clang", hasOption({ pattern: /^-(?:fplugin|Xclang|load)/ })],
  ["java", hasOption({ pattern: /^-(?:javaagent|agent|XX:OnError|XX:OnOutOfMemoryError)/ })],
  ["go", hasOption({ pattern: /^--?(?:exec|toolexec|vettool|ldflags|overlay|modfile)/ })],
  ["cargo", hasOption({ long: "config" })],
  ["npm", runsNpmCode],
  ...["pdm", "hatch", "conda", "mamba", "pipx"].map((name): [string, ArgumentsTest] => [
    name,
    hasOption({ pattern: /^run$/ }),
  ]),
  ...["pnpm", "yarn", "mise", "asdf", "direnv", "pyenv", "rbenv"].map((name): [string, ArgumentsTest] => [
    name,
    hasOption({ pattern: /^(?:exec|x|dlx)$/ }),
  ]),
  // The program that these run is examined as well.
  ["poetry", runsOwnProgram("run")],
  ["uv", runsOwnProgram("run")],
  ["bundle", runsOwnProgram("exec")],
  ["npx", hasOption({ pattern: /^-c$/, long: "call" })],
]);

/** Whether the word that runs a program is not the first argument, but follows options that are not parsed. */
function runsOwnProgram(word: string): ArgumentsTest {
  return (args) => args[0] !== word && args.includes(word);
}

/**
 * Whether a program is given code itself, as opposed to a file of code: a policy that allows the program cannot know
 * what the code does. Errs on the wide side: an option that only might carry code counts. For build and test programs,
 * and for git when it reads, adds and commits, only options known to carry no code are exempt.
 */
export function runsCode(name: string, args: readonly string[]): boolean {
  return takesCode(name, args) || readKnownOptions(name, args)?.unknown === true;
}

function takesCode(name: string, args: readonly string[]): boolean {
  const judge = JUDGES.get(name) ?? (/^(?:python|pypy)[\d.]*$/.test(name) ? runsPythonCode : undefined);
  if (judge !== undefined) return judge(args);
  const unversioned = name.replace(/-?\d[\d.]*$/, "");
  return unversioned !== name && (JUDGES.get(unversioned)?.(args) ?? false);
}

/** Matches such an option, or arguments with nothing but options: then the code comes from standard input. */
function codeOption(option: OptionNames): ArgumentsTest {
  const hasCode = hasOption(option);
  return (args) => hasCode(args) || readsStandardInput(args);
}

function readsStandardInput(args: readonly string[]): boolean {
  if (args.some((arg) => /^(?:-V|-v|-h|--version|--help|--test)$/.test(arg))) return false;
  return args.every((arg) => arg === "-" || arg.startsWith("-"));
}

const SHELL_CODE = hasOption({ letters: "csiCSIE", long: "rcfile init-file init-command login command" });

function runsShellCode(args: readonly string[]): boolean {
  return SHELL_CODE(args) || readsStandardInput(args);
}

/** `-m MODULE` names installed code, except for modules that run their arguments. */
function runsPythonCode(args: readonly string[]): boolean {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (/^(?:-V|-h|--version|--help)$/.test(arg)) return false;
    if (/^-[bBdEIOPqRsSuvx]*m$/.test(arg)) {
      return /^(?:timeit|pdb|trace|cProfile|profile|code|runpy|bdb)?$/.test(args[at + 1] ?? "");
    }
    if (arg === "-W" || arg === "-X") at++;
    else if (!arg.startsWith("-")) return false;
    else if (!/^-[bBdEIOPqRsSuvx]+$/.test(arg)) return true;
  }
  return true;
}

const JAVASCRIPT_CODE = hasOption({
  letters: "eprCi",
  pattern: /^--(?:eval|print|require|import|loader|experimental[-_]loader|interactive|env[-_]file|inspect)|^data:/,
});

function runsJavaScript(args: readonly string[]): boolean {
  return JAVASCRIPT_CODE(args) || /^(?:eval|repl|x)$/.test(args[0] ?? "") || readsStandardInput(args);
}

/** The sed commands `e` and `w` run programs and write files; only the simplest scripts are known not to use them. */
function runsSedCode(args: readonly string[]): boolean {
  const plain = /^(?:\d+|\$)?(?:,(?:\d+|\$))?[pdq=]$|^(?:\d+(?:,\d+)?)?s([/|,#])[^\n\\]*?\1[^\n\\]*?\1[gpiI\d]*$/;
  const scripts: string[] = [];
  let named = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "-f" || arg.startsWith("--file")) return true;
    if (arg === "-e" || arg === "--expression") {
      scripts.push(args[++at] ?? "");
      named = true;
    } else if (arg.startsWith("-") && !/^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended))$/.test(arg)) {
      if (!/^-i|^--in-place/.test(arg)) return true;
    } else if (!arg.startsWith("-") && !named) {
      scripts.push(arg);
      named = true;
    }
  }
  // A delimiter inside the parts would end them early, so a script with more than three of it is not plain.
  return !scripts.every((script) => plain.test(script) && !/^[\d,]*s(.)(?:.*\1){3}/.test(script));
}

const PLAIN_GIT_OPTIONS = new Set([
  "--no-pager",
  "-P",
  "--version",
  "-v",
  "--help",
  "-h",
  "--no-optional-locks",
  "--literal-pathspecs",
]);
const GIT_PROGRAM_RUNNERS =
  /^(?:difftool|mergetool|filter-branch|instaweb|send-email|gui|citool|svn|p4|web--browse|daemon|shell|remote-.*|upload-.*|receive-pack|credential.*|hook|maintenance|bisect|submodule|config|init|worktree)$/;
const isGitCode = hasOption({
  pattern: /^-(?:[cxuO]|S|i$|p$)|^[a-z0-9+.-]+::/,
  long: `exec ext-diff upload-pack receive-pack open-files-in-pager textconv filters template config output trailer
    gpg-sign show-signature edit interactive patch server-option`,
});

/** Git runs programs named in its configuration, and many options set configuration. */
function runsGitCode(args: readonly string[]): boolean {
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  const before = at === -1 ? args : args.slice(0, at);
  if (before.some((arg) => !PLAIN_GIT_OPTIONS.has(arg))) return true;
  if (at === -1) return false;
  if (GIT_PROGRAM_RUNNERS.test(args[at] ?? "")) return true;
  const options = args.slice(at + 1);
  const plain = GIT_OPTIONS.get(args[at] ?? "");
  if (plain !== undefined) return readOptions(options, plain).unknown;
  const end = options.indexOf("--");
  return (end === -1 ? options : options.slice(0, end)).some((arg) => isGitCodeOption(args[at] ?? "", arg));
}

function isGitCodeOption(command: string, arg: string): boolean {
  // For these commands `-u` only names an upstream, and `-c` shows a merge or creates a branch.
  if (/^(?:push|branch)$/.test(command) && arg.startsWith("-u")) return false;
  if (/^(?:switch|rev-list)$/.test(command) && arg === "-c") return false;
  return isGitCode([arg]);
}

const NPM_CODE = hasOption({ pattern: /^-{1,2}(?:scr|node-o|cal)|^-c$/, long: "script-shell node-options call" });

/** Matches configuration options, with one dash or two, and any prefix of their names. */
function runsNpmCode(args: readonly string[]): boolean {
  return /^(?:exec|x|explore)$/.test(args[0] ?? "") || NPM_CODE(args);
}

const MAKE_CODE = hasOption({
  letters: "fICEW",
  long: "eval file makefile directory include-dir what-if new-file assume-new",
  pattern: /=|^-$/,
});

/** Variables and `--eval` are code for make; targets and `-j` are not. */
function runsMakeCode(args: readonly string[]): boolean {
  return MAKE_CODE(args);
}
