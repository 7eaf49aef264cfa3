import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GitOperationName } from "../git-operations.ts";
import type { HostileRepository } from "./hostile-repository.ts";

/** A way to make an unguarded git run a program. */
export interface Trap {
  readonly key: string;
  readonly operation: GitOperationName;
  /** Arguments of the unguarded run, and of the guarded run: both as the grammar builds them and unchanged. */
  readonly args: readonly string[];
  readonly input?: string;
  readonly set: (repository: HostileRepository) => void;
  /** Called before each of the two runs. */
  readonly again?: (repository: HostileRepository) => void;
  /** The guarded run is refused. */
  readonly refused?: true;
  /** The guarded run fails, because a feature that it needs is switched off. */
  readonly fails?: true;
}

const ATTRIBUTES = "*.txt filter=NAME diff=NAME merge=NAME\n";

/** Changes the file, so that git must read it instead of trusting the index. */
export function dirty(repository: HostileRepository): void {
  repository.write("file.txt", "two\n");
}

export function attribute(repository: HostileRepository, name: string): void {
  mkdirSync(join(repository.directory, ".git/info"), { recursive: true });
  writeFileSync(join(repository.directory, ".git/info/attributes"), ATTRIBUTES.replaceAll("NAME", name));
}

export function driver(
  key: string,
  operation: GitOperationName,
  args: readonly string[],
  extra: Partial<Trap> = {},
): Trap {
  const [, name = "", variable = ""] = /^\w+\.(.*)\.(\w+)$/.exec(key) ?? [];
  return {
    key,
    operation,
    args,
    set: (repository) => {
      attribute(repository, name);
      repository.config(key, repository.trap);
      if (variable === "process") repository.config(`filter.${name}.required`, "false");
      dirty(repository);
    },
    ...extra,
  };
}

export function program(
  key: string,
  operation: GitOperationName,
  args: readonly string[],
  extra: Partial<Trap> = {},
): Trap {
  const mute = operation === "FETCH" || operation === "PUSH";
  return {
    key,
    operation,
    args,
    ...extra,
    set: (repository) => {
      repository.config(key, mute ? repository.mute : repository.trap);
      extra.set?.(repository);
    },
  };
}

/** Creates a commit whose signature only a program can check. */
export function signedCommit(repository: HostileRepository, kind: string): void {
  const tree = repository.git("rev-parse", "HEAD^{tree}").trim();
  const lines = [
    `tree ${tree}`,
    "author a <a@b> 1 +0000",
    "committer a <a@b> 1 +0000",
    `gpgsig -----BEGIN ${kind}-----`,
    " ",
    " AAAA",
    ` -----END ${kind}-----`,
    "",
    "signed",
    "",
  ];
  const { stdout } = repository.plain(["hash-object", "-t", "commit", "-w", "--stdin"], lines.join("\n"));
  repository.git("update-ref", "refs/heads/main", stdout.trim());
}

/** Creates a repository inside the repository, with its own configuration. */
export function submodule(repository: HostileRepository, key: string): void {
  repository.git("init", "-q", "sub");
  repository.git("-C", "sub", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x");
  repository.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n');
  repository.git("-c", "advice.addEmbeddedRepo=false", "add", "sub", ".gitmodules");
  repository.git("commit", "-q", "-m", "sub");
  repository.git("-C", "sub", "config", key, repository.trap);
}

/** Creates two branches that changed the same line. */
export function conflict(repository: HostileRepository): void {
  repository.git("checkout", "-q", "-b", "other");
  repository.write("file.txt", "other\n");
  repository.git("commit", "-q", "-a", "-m", "other");
  repository.git("checkout", "-q", "main");
  repository.write("file.txt", "main\n");
  repository.git("commit", "-q", "-a", "-m", "main");
}

/** Creates a remote that can be fetched from a path. */
export function remote(repository: HostileRepository, url = "../other"): void {
  repository.git("clone", "-q", "--bare", ".", "../other");
  repository.config("remote.origin.url", url);
  repository.config("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
}

export const hook = (name: string) => (repository: HostileRepository) =>
  repository.program(join(repository.directory, ".git/hooks", name));
