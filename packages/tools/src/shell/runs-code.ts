import { GIT_OPTIONS } from "./git-options.ts";
import { knownUse } from "./known-use.ts";
import { readOptions } from "./plain-options.ts";

/** Whether a program, with these arguments, takes instructions from its command line or its standard input. */
type Judge = (args: readonly string[]) => boolean;

const always: Judge = () => true;

const SHELLS = "sh bash dash zsh ksh ksh93 mksh ash fish csh tcsh rbash posh pwsh powershell osascript".split(" ");
const AWKS = "awk gawk mawk nawk original-awk".split(" ");
/** They take commands as options, as `+command`, or from what is typed to them. */
const EDITORS = "vi vim nvim view ex ed emacs emacsclient nano pico joe mcedit".split(" ");
const REMOTE = "ssh scp sftp rsync telnet nc ncat netcat socat mosh".split(" ");
const DATABASES = "sqlite3 psql mysql mariadb mongo mongosh redis-cli duckdb".split(" ");
const CONTAINERS = "docker podman nerdctl kubectl lxc vagrant ansible systemctl".split(" ");

/** Long options are matched by their starts: GNU's programs and git take any that is not ambiguous. */
const JUDGES: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ...[...AWKS, ...EDITORS, ...REMOTE, ...DATABASES, ...CONTAINERS].map((name): [string, Judge] => [name, always]),
  ...SHELLS.map((name): [string, Judge] => [name, runsShellCode]),
  ...["node", "nodejs", "bun", "deno", "tsx", "ts-node"].map((name): [string, Judge] => [name, runsJavaScript]),
  ...["less", "more", "most"].map((name): [string, Judge] => [name, has(/^\+|^-[^-]*[kK]|^--lesskey/)]),
  ["perl", codeOption(/^-[^-]*[eEIMmdix]/)],
  ["ruby", codeOption(/^-[^-]*[eIrnpix]/)],
  ["php", codeOption(/^-[rBREaF]|^--(?:run|process)/)],
  ["lua", codeOption(/^-[eil]/)],
  ["Rscript", codeOption(/^-e/)],
  ["R", always],
  ["julia", codeOption(/^-[eEL]|^--(?:eval|print|load)/)],
  ["ghc", has(/^-e/)],
  ["guile", codeOption(/^-[cle]/)],
  ["tclsh", codeOption(/^$/)],
  ["jshell", always],
  ["sed", runsSedCode],
  ["gsed", runsSedCode],
  ["find", has(/^-(?:exec|execdir|ok|okdir)$/)],
  ["fd", has(/^-[^-]*[xX]|^--exec/)],
  ["fdfind", has(/^-[^-]*[xX]|^--exec/)],
  ["rg", has(/^--pre(?:=|$)|^--hostname-bin|^-[^-]*z|^--search-zip/)],
  ["git", runsGitCode],
  ["man", has(/^-[^-]*[PHC]|^--(?:p|h|con)/)],
  ["make", runsMakeCode],
  ["gmake", runsMakeCode],
  ["cmake", has(/^-[PE]/)],
  ["tar", has(/^--(?:ch|to-c|us|rs|rm|in|ne)|^-[^-]*[IF]/)],
  ["sort", has(/^--co/)],
  ["split", has(/^--f/)],
  ["zip", has(/^-[^-]*T|^--unzip-command/)],
  ["curl", has(/^-[^-]*K|^--config|^file:|^scp:|^sftp:/)],
  ["wget", has(/^--(?:use-askpass|execute|config)|^-[^-]*e/)],
  ["file", has(/^-[^-]*[mC]|^--(?:ma|co)/)],
  ["gpg", has(/^--(?:photo-viewer|exec-path|agent-program|options)/)],
  ["openssl", has(/^-(?:engine|provider)/)],
  ["gcc", has(/^-(?:wrapper|fplugin|specs|B)/)],
  ["cc", has(/^-(?:wrapper|fplugin|specs|B)/)],
  ["clang", has(/^-(?:fplugin|Xclang|load)/)],
  ["java", has(/^-(?:javaagent|agent|XX:OnError|XX:OnOutOfMemoryError)/)],
  ["go", has(/^--?(?:exec|toolexec|vettool|ldflags|overlay|modfile)/)],
  ["cargo", has(/^--config/)],
  ["npm", runsNpmCode],
  ...["poetry", "uv", "pdm", "hatch", "conda", "mamba", "pipx"].map((name): [string, Judge] => [name, has(/^run$/)]),
  ...["pnpm", "yarn", "bundle", "mise", "asdf", "direnv", "pyenv", "rbenv"].map((name): [string, Judge] => [
    name,
    has(/^(?:exec|x|dlx)$/),
  ]),
  ["npx", has(/^-c$|^--call/)],
]);

/**
 * Code, not a file of code: a policy that lets a program run has not seen what it will do.
 * Wide rather than narrow: an option that only might carry code counts. Of programs that build and test, and of git where it
 * looks, adds and commits, only options that are known to carry none do not.
 */
export function runsCode(name: string, args: readonly string[]): boolean {
  return takesCode(name, args) || knownUse(name, args)?.unknown === true;
}

function takesCode(name: string, args: readonly string[]): boolean {
  const judge = JUDGES.get(name) ?? (/^(?:python|pypy)[\d.]*$/.test(name) ? runsPythonCode : undefined);
  if (judge !== undefined) return judge(args);
  const unversioned = name.replace(/-?\d[\d.]*$/, "");
  return unversioned !== name && (JUDGES.get(unversioned)?.(args) ?? false);
}

function has(option: RegExp): Judge {
  return (args) => args.some((arg) => option.test(arg));
}

/** Such an option, or nothing but options: then the code comes from standard input. */
function codeOption(option: RegExp): Judge {
  return (args) => has(option)(args) || readsStandardInput(args);
}

function readsStandardInput(args: readonly string[]): boolean {
  if (args.some((arg) => /^(?:-V|-v|-h|--version|--help|--test)$/.test(arg))) return false;
  return args.every((arg) => arg === "-" || arg.startsWith("-"));
}

function runsShellCode(args: readonly string[]): boolean {
  return (
    has(/^-[^-]*[csi]|^--(?:rcfile|init-file|login)|^-(?:[Ee]ncodedCommand|Command)/i)(args) || readsStandardInput(args)
  );
}

/** `-m MODULE` names code that is installed, but for the modules that run what they are given. */
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

function runsJavaScript(args: readonly string[]): boolean {
  return (
    has(
      /^-[^-]*[eprCi]|^--(?:eval|print|require|import|loader|experimental[-_]loader|interactive|env[-_]file|inspect)|^data:/,
    )(args) ||
    /^(?:eval|repl|x)$/.test(args[0] ?? "") ||
    readsStandardInput(args)
  );
}

/** `e` and `w` of sed run and write; only scripts of the plainest kinds are known to have neither. */
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
  // A delimiter inside the parts would end them early: more than three of it is not plain.
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
const GIT_CODE_OPTIONS =
  /^--(?:ex|up|rec|open|text|fil|temp|config|out|trai|gpg|show-sig|ed|inter|patch)|^-(?:[cxuO]|S|i$|p$)|^[a-z0-9+.-]+::/;

/** Git runs what its configuration says, and many options are configuration. */
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
  // In these `-u` only names an upstream, and `-c` shows a merge or creates a branch.
  if (/^(?:push|branch)$/.test(command) && arg.startsWith("-u")) return false;
  if (/^(?:switch|rev-list)$/.test(command) && arg === "-c") return false;
  return GIT_CODE_OPTIONS.test(arg);
}

/** Configuration by option: with one dash or two, and by any start of its name. */
function runsNpmCode(args: readonly string[]): boolean {
  return /^(?:exec|x|explore)$/.test(args[0] ?? "") || has(/^--?(?:scr|node-o|cal)|^-c$/)(args);
}

/** Variables and `--eval` are code to make; targets and `-j` are not. */
function runsMakeCode(args: readonly string[]): boolean {
  return has(/=|^-[^-]*[fICEW]|^--(?:ev|f|mak|di|in)|^-$/)(args);
}
