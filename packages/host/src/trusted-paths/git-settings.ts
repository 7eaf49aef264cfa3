import type { GitSetting } from "./parse-git-config.ts";

/** What a git setting refers to: a directory of hooks, an included or other file, a work tree, or a command line. */
export type NamedByGit =
  | { readonly kind: "hooks" | "include" | "worktree" | "file"; readonly path: string }
  | { readonly kind: "command"; readonly words: readonly string[] };

/** SPEC: git-config(1). Every variable whose value git runs, directly or with a shell. */
const COMMANDS: readonly RegExp[] = [
  /^core\.(?:fsmonitor|pager|editor|askpass|sshcommand|gitproxy|alternaterefscommand)$/,
  /^(?:sequence\.editor|interactive\.difffilter|diff\.external|uploadpack\.packobjectshook|gui\.|sendemail\.)/,
  /^filter\..*\.(?:clean|smudge|process)$/s,
  /^diff\..*\.(?:command|textconv)$/s,
  /^merge\..*\.driver$/s,
  /^(?:difftool|mergetool|browser|man|guitool)\..*\.(?:cmd|path)$/s,
  /^(?:alias|pager)\./s,
  /^credential\.(?:.*\.)?helper$/s,
  /^gpg\.(?:.*\.)?(?:program|defaultkeycommand)$/s,
  /^trailer\..*\.(?:command|cmd)$/s,
  /^hook\..*\.command$/s,
  /^remote\..*\.(?:uploadpack|receivepack)$/s,
  /^submodule\..*\.update$/s,
  /^tar\..*\.command$/s,
];

/** Files that git applies: attributes select filters, and a template's hooks are copied into each new repository. */
const FILES = /^(?:core\.attributesfile|init\.templatedir)$/;

/** Returns what a setting refers to; undefined if its value is irrelevant. */
export function namedBySetting({ key, value }: GitSetting): NamedByGit | undefined {
  // Git ends a value at a null byte.
  const text = value?.split("\0")[0] ?? "";
  if (text === "") return undefined;
  if (key === "core.hookspath") return { kind: "hooks", path: text };
  if (key === "core.worktree") return { kind: "worktree", path: text };
  // SECURITY: a condition can become true with the next branch, so every included file counts.
  if (key === "include.path" || /^includeif\..*\.path$/s.test(key)) return { kind: "include", path: text };
  if (FILES.test(key)) return { kind: "file", path: text };
  if (!COMMANDS.some((pattern) => pattern.test(key))) return undefined;
  return { kind: "command", words: wordsOf(text) };
}

/**
 * Returns the words of a command line that can be files of a repository: with a slash or, after the first, with a dot.
 */
function wordsOf(command: string): string[] {
  const words = command.split(/[\s"'`=;|&()<>!$]+/).filter((word) => word !== "");
  return words.filter((word, index) => /[^./]/.test(word) && (word.includes("/") || (index > 0 && word.includes("."))));
}
