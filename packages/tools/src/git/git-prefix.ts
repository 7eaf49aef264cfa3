import { GIT_OPERATION_FACTS, type GitOperationName } from "./git-operations.ts";

/** How git is started: the arguments before the operation, and the whole environment. */
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
 * Configuration for every operation. An option on the command line overrides every file, and git passes it to the git
 * processes that it starts, in submodules too.
 * SECURITY: git has no switch for "run nothing". Keys with a name chosen by the repository, such as
 * `filter.NAME.clean`, cannot be listed here: `dangerousConfig` finds those.
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
  // An empty value clears the list of helpers set so far, including those for single addresses.
  ["credential.helper", ""],
  // Would fail if it were run; `--no-ext-diff`, which DIFF, LOG and SHOW get, prevents that.
  ["diff.external", ""],
  ["diff.submodule", "short"],
  ["diff.ignoreSubmodules", "dirty"],
  ["status.submoduleSummary", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  ["interactive.diffFilter", ""],
  ["log.showSignature", "false"],
  // Cannot be started. A program that exits at once would end git too, by a broken pipe.
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
  // Its lines become lines of the rebase's todo list, where `exec` is a command.
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
      // Empty but set: git does not prompt, and does not look for another program.
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
      // A partial clone would fetch missing objects while reading.
      ...(network ? {} : { GIT_NO_LAZY_FETCH: "1" }),
      ...(readOnly ? { GIT_OPTIONAL_LOCKS: "0" } : {}),
    },
  };
}

/** The settings as options of git; also used for the listing that `dangerousConfig` reads. */
function gitSettings(): string[] {
  return SETTINGS.flatMap(([key, value]) => ["-c", `${key}=${value}`]);
}
