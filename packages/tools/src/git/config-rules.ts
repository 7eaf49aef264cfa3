import type { GitOperationFacts } from "./git-operations.ts";

/**
 * How a dangerous key is made harmless:
 * - `override`: by the settings in `set`, on git's command line
 * - `prefix`: by a setting that every operation has
 * - `unreachable`: nothing that the operations run reads the key
 * - `contained`: the key takes effect, but the sandbox, the gate or the list of transports limits it
 * - `refuse`: it cannot be made harmless; the operation must not run
 */
export type ConfigRemedy = "override" | "prefix" | "unreachable" | "contained" | "refuse";

export interface ConfigRule {
  /** Matches the whole key. Sections and variables are in lower case, names between them are as written. */
  readonly key: RegExp;
  readonly remedy: ConfigRemedy | ((facts: GitOperationFacts) => ConfigRemedy);
  /** Variables below the same section and name, and the values that they are set to. */
  readonly set?: Readonly<Record<string, string>>;
  readonly why: string;
}

const ifNetwork =
  (then: ConfigRemedy, otherwise: ConfigRemedy) =>
  ({ network }: GitOperationFacts): ConfigRemedy =>
    network ? then : otherwise;

/** Rules for dangerous keys; the first match applies. Checked against the list of `git help --config`. */
export const CONFIG_RULES: readonly ConfigRule[] = [
  {
    key: /^filter\..*\.(?:clean|smudge|process|required)$/s,
    remedy: "override",
    // An empty command counts as no command; but if the filter is required, a missing command is an error.
    set: { clean: "", smudge: "", process: "", required: "false" },
    why: "runs a program on the content of files",
  },
  {
    key: /^diff\..*\.(?:command|textconv|cachetextconv|trustexitcode)$/s,
    remedy: "override",
    // An empty command would be run and fail. `--no-ext-diff` and `--no-textconv` prevent git from using it.
    set: { command: "", textconv: "cat", cachetextconv: "false" },
    why: "runs a program to show differences",
  },
  {
    key: /^merge\..*\.driver$/s,
    remedy: "override",
    // An empty driver succeeds and silently keeps one side. This value is what git does by default.
    set: { driver: "git merge-file -q --marker-size=%L %A %O %B" },
    why: "runs a program to merge files",
  },
  { key: /^alias\./s, remedy: "unreachable", why: "an alias never hides a command of git's own" },
  {
    key: /^core\.(?:hookspath|fsmonitor|pager|editor|askpass|sshcommand|gitproxy)$/,
    remedy: "prefix",
    why: "runs a program",
  },
  { key: /^core\.alternaterefscommand$/, remedy: "prefix", why: "runs a program to list references" },
  { key: /^core\.(?:attributesfile|excludesfile)$/, remedy: "prefix", why: "reads a file of its choosing" },
  { key: /^core\.(?:protecthfs|protectntfs)$/, remedy: "prefix", why: "switches off a check of file names" },
  {
    key: /^core\.worktree$/,
    remedy: "contained",
    why: "moves the working tree: the sandbox mounts only the workspace",
  },
  {
    key: /^(?:sequence\.editor|interactive\.difffilter|init\.templatedir)$/,
    remedy: "prefix",
    why: "runs or copies a program",
  },
  {
    key: /^(?:include|includeif\..*)\.path$/s,
    // Included files are part of the listing, but an operation that changes files or branches can change them while it
    // runs.
    remedy: ({ writesWorktree }) => (writesWorktree ? "refuse" : "contained"),
    why: "brings configuration from a file that can change during the operation: remove the include",
  },
  {
    key: /^remote\..*\.(?:uploadpack|receivepack)$/s,
    // Of several values git takes the first, which is the repository's; an option cannot override it.
    remedy: ifNetwork("refuse", "contained"),
    why: "names the program of the other side: unset it",
  },
  { key: /^remote\..*\.proxy$/s, remedy: "override", set: { proxy: "" }, why: "leads past the gate" },
  { key: /^remote\..*\.vcs$/s, remedy: ifNetwork("refuse", "contained"), why: "runs a transport helper: unset it" },
  { key: /^remote\..*\.(?:url|pushurl)$/s, remedy: "contained", why: "may name a helper: only listed transports work" },
  {
    key: /^(?:remote\..*\.(?:promisor|partialclonefilter)|extensions\.partialclone)$/s,
    remedy: "contained",
    why: "fetches while reading: no transport works then",
  },
  {
    key: /^url\..*\.(?:insteadof|pushinsteadof)$/s,
    // An empty value would match every address, and the longest match wins over the kernel's setting.
    remedy: ifNetwork("refuse", "unreachable"),
    why: "rewrites addresses: unset it",
  },
  {
    key: /^credential\.(?:.*\.)?helper$/s,
    remedy: "prefix",
    why: "runs a program that is told or asked for passwords",
  },
  { key: /^credential\./s, remedy: "contained", why: "shapes credentials: the gate adds them" },
  { key: /^gpg\.(?:.*\.)?program$/s, remedy: "override", set: { program: "/dev/null" }, why: "runs a program" },
  {
    key: /^gpg\.(?:.*\.)?defaultkeycommand$/s,
    remedy: "override",
    set: { defaultkeycommand: "" },
    why: "runs a program",
  },
  { key: /^gpg\./s, remedy: "contained", why: "shapes how signatures are checked: none is" },
  {
    key: /^(?:(?:commit|tag|push)\.gpgsign|tag\.forcesignannotated|log\.showsignature)$/,
    remedy: "prefix",
    why: "makes or checks signatures by a program",
  },
  { key: /^pager\.(.*)$/s, remedy: "override", set: { "": "false" }, why: "runs a program to show output" },
  {
    key: /^submodule\..*\.(?:update|ignore|fetchrecursesubmodules)$/s,
    remedy: "override",
    set: { update: "none", ignore: "dirty", fetchrecursesubmodules: "false" },
    why: "enters a repository with a configuration of its own",
  },
  {
    key: /^(?:submodule\.recurse|fetch\.recursesubmodules|push\.recursesubmodules|diff\.submodule|diff\.ignoresubmodules|status\.submodulesummary)$/,
    remedy: "prefix",
    why: "enters a repository with a configuration of its own",
  },
  {
    key: /^trailer\..*\.(?:command|cmd)$/s,
    remedy: "override",
    set: { command: "true", cmd: "true" },
    why: "runs a program",
  },
  {
    key: /^hook\..*\.(?:command|event|enabled)$/s,
    remedy: "override",
    set: { enabled: "false" },
    why: "runs a program",
  },
  { key: /^branch\..*\.mergeoptions$/s, remedy: "override", set: { mergeoptions: "" }, why: "gives options to merge" },
  { key: /^pull\.(?:twohead|octopus)$/, remedy: "prefix", why: "names a merge strategy, which is a program" },
  { key: /^rebase\.instructionformat$/, remedy: "prefix", why: "puts programs into the list that a rebase works off" },
  { key: /^diff\.external$/, remedy: "prefix", why: "runs a program to show differences" },
  {
    key: /^http\.(?:.*\.)?(?:proxy|extraheader|sslverify|savecookies|followredirects|cookiefile)$/s,
    remedy: ifNetwork("override", "unreachable"),
    set: {
      proxy: "",
      extraheader: "",
      sslverify: "true",
      savecookies: "false",
      followredirects: "false",
      cookiefile: "",
    },
    why: "changes what is sent, and to whom",
  },
  {
    key: /^http\./s,
    remedy: ifNetwork("contained", "unreachable"),
    why: "shapes connections: they all end at the gate",
  },
  { key: /^protocol\./s, remedy: "prefix", why: "allows transports: the environment's list counts" },
  { key: /^(?:gc|maintenance)\./s, remedy: "prefix", why: "work in the background is off" },
  {
    key: /^(?:bundle\.|fetch\.bundleuri$|transfer\.bundleuri$)/s,
    remedy: "contained",
    why: "fetches from elsewhere, by the gate",
  },
  {
    key: /^(?:commit\.template|diff\.orderfile|mailmap\.file|blame\.ignorerevsfile|fsck\.skiplist|fetch\.fsck\.skiplist)$/,
    remedy: "contained",
    why: "reads a file of its choosing: the sandbox mounts only the workspace",
  },
  {
    key: /^(?:browser|man|difftool|mergetool|guitool|sendemail|imap|instaweb|tar|gitcvs|gitweb|gui|receive|uploadpack|uploadarchive|svn|svn-remote|lfs|git-p4|fsmonitor|credentialcache|credentialstore|trace2|safe)\./s,
    remedy: "unreachable",
    why: "is read by no operation, or not from a repository",
  },
  {
    key: /^(?:web\.browser|help\.browser|diff\.tool|diff\.guitool|merge\.tool|merge\.guitool|add\.interactive\.usebuiltin|core\.usebuiltinfsmonitor)$/,
    remedy: "unreachable",
    why: "is read by no operation",
  },
];
