import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { attribute, conflict, dirty, driver, hook, program, remote, submodule, type Trap } from "./trap.ts";

const CREDENTIAL = "protocol=https\nhost=example.org\n\n";

/** Traps for operations that write, and for those that contact a remote. */
export const WRITE_TRAPS: readonly Trap[] = [
  program("core.editor", "COMMIT", ["commit", "--allow-empty"], { fails: true }),
  program("sequence.editor", "REBASE", ["rebase", "-i", "--root"]),
  {
    key: ".git/hooks/pre-commit",
    operation: "COMMIT",
    args: ["commit", "--allow-empty", "-m", "x"],
    set: hook("pre-commit"),
  },
  {
    key: ".git/hooks/reference-transaction",
    operation: "TAG",
    args: ["tag", "-f", "t"],
    set: hook("reference-transaction"),
  },
  {
    key: ".git/hooks/post-checkout",
    operation: "CHECKOUT",
    args: ["checkout", "-f", "main"],
    set: hook("post-checkout"),
  },
  driver("filter.x.clean", "ADD", ["add", "file.txt"], {
    again: (repository) => repository.write("file.txt", `${repository.sprung()}${Math.sqrt(2)}\n`),
  }),
  driver("filter.x.smudge", "CHECKOUT", ["checkout", "--", "file.txt"], { again: dirty }),
  driver("filter.x.smudge", "RESET", ["reset", "--hard"], { again: dirty }),
  driver("filter.x.clean", "STASH", ["stash", "push"], { again: dirty }),
  driver("merge.x.driver", "MERGE", ["merge", "--no-commit", "other"], {
    set: (repository) => {
      conflict(repository);
      attribute(repository, "x");
      repository.config("merge.x.driver", repository.trap);
    },
    again: (repository) => repository.git("reset", "-q", "--hard", "main"),
    fails: true,
  }),
  program("gpg.program", "COMMIT", ["commit", "--allow-empty", "-m", "x"], {
    set: (repository) => repository.config("commit.gpgSign", "true"),
  }),
  program("gpg.program", "TAG", ["tag", "-f", "-a", "-m", "x", "t"], {
    set: (repository) => repository.config("tag.gpgSign", "true"),
  }),
  program("trailer.x.cmd", "COMMIT", ["commit", "--allow-empty", "-m", "x", "--trailer", "x:1"], {
    set: (repository) => repository.config("trailer.x.key", "X"),
  }),
  program("core.sshCommand", "FETCH", ["fetch", "ssh://example.invalid/x"], { fails: true }),
  program("core.gitProxy", "FETCH", ["fetch", "git://example.invalid/x"], { fails: true }),
  program("credential.helper", "FETCH", ["credential", "fill"], { input: CREDENTIAL, fails: true }),
  program("credential.https://example.org.helper", "FETCH", ["credential", "fill"], { input: CREDENTIAL, fails: true }),
  program("core.askPass", "FETCH", ["credential", "fill"], { input: CREDENTIAL, fails: true }),
  program("remote.origin.uploadpack", "FETCH", ["fetch", "origin"], {
    set: (repository) => remote(repository),
    refused: true,
  }),
  program("remote.origin.receivepack", "PUSH", ["push", "origin", "main"], {
    set: (repository) => remote(repository),
    refused: true,
  }),
  {
    key: "remote.NAME.vcs",
    operation: "FETCH",
    args: ["fetch", "origin"],
    set: (repository) => {
      remote(repository);
      repository.config("remote.origin.vcs", "trapped");
    },
    refused: true,
  },
  {
    key: "remote.NAME.url and protocol.ext.allow",
    operation: "FETCH",
    args: ["fetch", "origin"],
    set: (repository) => {
      remote(repository, `ext::${repository.mute}`);
      repository.config("protocol.ext.allow", "always");
    },
    fails: true,
  },
  {
    key: "url.NAME.insteadOf",
    operation: "FETCH",
    args: ["fetch", "origin"],
    set: (repository) => {
      remote(repository, "https://example.invalid/x");
      repository.config("protocol.ext.allow", "always");
      repository.config(`url.ext::${repository.mute} .insteadOf`, "https://");
    },
    refused: true,
  },
  {
    key: "include.path",
    operation: "CHECKOUT",
    args: ["checkout", "-f", "main"],
    set: (repository) => {
      mkdirSync(join(repository.root, "hooks"));
      repository.program(join(repository.root, "hooks/post-checkout"));
      repository.write("more", `[core]\n\thooksPath = ${join(repository.root, "hooks")}\n`);
      repository.config("include.path", "../more");
    },
    refused: true,
  },
  {
    key: "submodule.NAME.update",
    operation: "PULL",
    args: ["submodule", "update", "--init", "--force"],
    set: (repository) => {
      submodule(repository, "core.x");
      repository.config("submodule.sub.url", join(repository.directory, "sub"));
      repository.config("submodule.sub.active", "true");
      repository.config("submodule.sub.update", `!${repository.trap}`);
      repository.git(
        "-C",
        "sub",
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "z",
      );
    },
  },
  {
    key: "pull.twohead",
    operation: "PULL",
    args: ["pull", "--no-rebase", ".", "other"],
    set: (repository) => {
      conflict(repository);
      repository.config("pull.twohead", "trapped");
    },
    again: (repository) => repository.git("reset", "-q", "--hard", "main"),
    fails: true,
  },
  {
    key: "branch.NAME.mergeOptions",
    operation: "MERGE",
    args: ["merge", "other"],
    set: (repository) => {
      conflict(repository);
      repository.config("branch.main.mergeOptions", "-s trapped");
    },
    again: (repository) => repository.git("reset", "-q", "--hard", "main"),
    fails: true,
  },
  {
    key: "rebase.instructionFormat",
    operation: "REBASE",
    args: ["rebase", "--force-rebase", "--root"],
    set: (repository) => repository.config("rebase.instructionFormat", `%s%nexec ${repository.trap}`),
  },
  {
    key: "rebase.instructionFormat",
    operation: "PULL",
    args: ["pull", "--rebase", ".", "other"],
    set: (repository) => {
      repository.git("checkout", "-q", "-b", "other");
      repository.write("more.txt", "more\n");
      repository.git("add", ".");
      repository.git("commit", "-q", "-m", "other");
      repository.git("checkout", "-q", "main");
      repository.git("commit", "-q", "--allow-empty", "-m", "main");
      repository.git("tag", "start");
      repository.config("rebase.instructionFormat", `%s%nexec ${repository.trap}`);
    },
    again: (repository) => repository.git("reset", "-q", "--hard", "start"),
    // It fetches from a path, and that transport is not allowed.
    fails: true,
  },
];
