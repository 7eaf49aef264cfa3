import { GIT_OPERATION_FACTS, type GitOperationName } from "./git-operations.ts";

/** How git is started: what stands before the operation, and the whole environment. */
export interface GitPrefix {
  /** From `git` to the last option before the operation. */
  readonly argv: readonly string[];
  /** Nothing of the kernel's own environment is inherited. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface GitPrefixOptions {
  /** Transports that a network operation may use; others may use none. */
  readonly protocols?: readonly string[];
  readonly path?: string;
  readonly home?: string;
}

/**
 * Configuration that holds for every operation. An option on the command line beats every file, and git hands it on to
 * the git processes it starts, in submodules too.
 * SECURITY: git has no switch for "run nothing". Keys with a name of the repository's choosing, such as `filter.NAME.clean`,
 * cannot be named here: `dangerousConfig` finds those.
 */
const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.pager", "cat"],
  ["core.editor", "true"],
  ["sequence.editor", "true"],
  ["core.askPass", ""],
  ["core.sshCommand", "false"],
  ["core.gitProxy", "none"],
  ["core.alternateRefsCommand", "true"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
  ["core.protectHFS", "true"],
  ["core.protectNTFS", "true"],
  // An empty value ends the list of helpers that came before, those of single addresses too.
  ["credential.helper", ""],
  // Fails instead of being run: `--no-ext-diff`, which DIFF, LOG and SHOW are given, keeps it from being asked for.
  ["diff.external", ""],
  ["diff.submodule", "short"],
  ["diff.ignoreSubmodules", "dirty"],
  ["status.submoduleSummary", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  ["interactive.diffFilter", ""],
  ["log.showSignature", "false"],
  // Cannot be started. A program that ends at once would end git too, by a broken pipe.
  ["gpg.program", "/dev/null"],
  ["gpg.openpgp.program", "/dev/null"],
  ["gpg.x509.program", "/dev/null"],
  ["gpg.ssh.program", "/dev/null"],
  ["gpg.ssh.defaultKeyCommand", ""],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["tag.forceSignAnnotated", "false"],
  ["push.gpgSign", "false"],
  ["gc.auto", "0"],
  ["gc.autoDetach", "false"],
  ["maintenance.auto", "false"],
  ["init.templateDir", ""],
  // Lines of it become lines of the list that a rebase works off, and `exec` is one of them.
  ["rebase.instructionFormat", "%s"],
  ["pull.twohead", "ort"],
  ["pull.octopus", "octopus"],
  ["safe.bareRepository", "explicit"],
  ["protocol.ext.allow", "never"],
  ["protocol.fd.allow", "never"],
  ["protocol.file.allow", "never"],
  ["http.followRedirects", "false"],
  ["color.ui", "false"],
  ["advice.detachedHead", "false"],
];

const DEFAULT_PROTOCOLS = ["https", "http"];

export function gitPrefix(operation: GitOperationName, options: GitPrefixOptions = {}): GitPrefix {
  const { readOnly, network } = GIT_OPERATION_FACTS[operation];
  const { protocols = DEFAULT_PROTOCOLS, path = "/usr/local/bin:/usr/bin:/bin", home = "/nonexistent" } = options;
  return {
    argv: ["git", "--no-pager", ...gitSettings()],
    environment: {
      PATH: path,
      HOME: home,
      LC_ALL: "C",
      TZ: "UTC",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_ATTR_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      // Empty and set: nothing is asked, and no other program is looked for.
      GIT_ASKPASS: "",
      SSH_ASKPASS: "",
      GIT_EDITOR: "true",
      GIT_SEQUENCE_EDITOR: "true",
      GIT_PAGER: "cat",
      GIT_SSH_COMMAND: "false",
      GIT_ALLOW_PROTOCOL: network && protocols.length > 0 ? protocols.join(":") : "none",
      GIT_PROTOCOL_FROM_USER: "0",
      GIT_MERGE_AUTOEDIT: "no",
      GIT_FLUSH: "1",
      // A partial clone would fetch what is missing in the middle of reading.
      ...(network ? {} : { GIT_NO_LAZY_FETCH: "1" }),
      ...(readOnly ? { GIT_OPTIONAL_LOCKS: "0" } : {}),
    },
  };
}

/** The settings as options of git: also for the listing that `dangerousConfig` reads. */
function gitSettings(): string[] {
  return SETTINGS.flatMap(([key, value]) => ["-c", `${key}=${value}`]);
}
