import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attribute, dirty, driver, hook, program, remote, signedCommit, submodule, type Trap } from "./trap.ts";

/** The operations that only read. */
export const READ_TRAPS: readonly Trap[] = [
  program("core.fsmonitor", "STATUS", ["status"]),
  program("core.fsmonitor", "DIFF", ["diff"]),
  {
    key: "core.hooksPath",
    operation: "STATUS",
    args: ["status"],
    set: (repository) => {
      mkdirSync(join(repository.root, "hooks"));
      repository.program(join(repository.root, "hooks/post-index-change"));
      repository.config("core.hooksPath", join(repository.root, "hooks"));
    },
    again: (repository) => repository.write("file.txt", "one\n"),
  },
  {
    key: ".git/hooks/post-index-change",
    operation: "STATUS",
    args: ["status"],
    set: hook("post-index-change"),
    again: (repository) => repository.write("file.txt", "one\n"),
  },
  ...["x", "X", "a.b", "a b", "ü", "a=b", "=", "a=b=c.d", "a\\b", 'a"b'].map((name) =>
    driver(`filter.${name}.clean`, "STATUS", ["status"], {
      set: (repository) => {
        attribute(repository, "x");
        // Attributes cannot name every driver that the configuration can; what matters is that the setting is
        // overridden.
        repository.config("filter.x.required", "false");
        repository.config(`filter.${name}.clean`, repository.trap);
        if (!/[ "\\]/.test(name)) attribute(repository, name);
        else repository.config("filter.x.clean", repository.trap);
        dirty(repository);
      },
    }),
  ),
  driver("filter.x.clean", "DIFF", ["diff"]),
  driver("filter.x.process", "STATUS", ["status"]),
  driver("filter.x.process", "DIFF", ["diff"]),
  driver("diff.x.command", "DIFF", ["diff"]),
  driver("diff.x.textconv", "DIFF", ["diff"]),
  driver("diff.x.textconv", "LOG", ["log", "-p"]),
  driver("diff.x.textconv", "SHOW", ["show", "HEAD"]),
  driver("diff.x.textconv", "SHOW", ["show", "--textconv", "HEAD:file.txt"]),
  driver("diff.x.command", "SHOW", ["show", "--ext-diff", "HEAD"]),
  program("diff.external", "DIFF", ["diff"], { set: dirty }),
  program("diff.external", "LOG", ["log", "-p", "--ext-diff"]),
  program("gpg.program", "LOG", ["log", "--show-signature"], {
    set: (repository) => signedCommit(repository, "PGP SIGNATURE"),
  }),
  program("gpg.program", "LOG", ["log", "--format=%G?"], {
    set: (repository) => signedCommit(repository, "PGP SIGNATURE"),
  }),
  program("gpg.openpgp.program", "SHOW", ["show", "--show-signature"], {
    set: (repository) => signedCommit(repository, "PGP SIGNATURE"),
  }),
  program("gpg.x509.program", "LOG", ["log", "--format=%G?"], {
    set: (repository) => signedCommit(repository, "SIGNED MESSAGE"),
  }),
  program("gpg.ssh.program", "LOG", ["log", "--format=%G?"], {
    set: (repository) => {
      signedCommit(repository, "SSH SIGNATURE");
      repository.write("signers", "");
      repository.config("gpg.ssh.allowedSignersFile", join(repository.directory, "signers"));
    },
  }),
  {
    key: "log.showSignature",
    operation: "LOG",
    args: ["log"],
    set: (repository) => {
      signedCommit(repository, "PGP SIGNATURE");
      repository.config("log.showSignature", "true");
      repository.config("gpg.program", repository.trap);
    },
  },
  {
    key: "pretty.NAME and format.pretty",
    operation: "LOG",
    args: ["log"],
    set: (repository) => {
      signedCommit(repository, "PGP SIGNATURE");
      repository.config("pretty.odd", "%G?");
      repository.config("format.pretty", "odd");
      repository.config("gpg.program", repository.trap);
    },
  },
  {
    key: "core.fsmonitor of a submodule",
    operation: "STATUS",
    args: ["status"],
    set: (repository) => submodule(repository, "core.fsmonitor"),
  },
  {
    key: "core.fsmonitor of a submodule",
    operation: "DIFF",
    args: ["diff"],
    set: (repository) => submodule(repository, "core.fsmonitor"),
  },
  {
    key: "filter.NAME.clean of a submodule",
    operation: "STATUS",
    args: ["status"],
    set: (repository) => {
      submodule(repository, "filter.x.clean");
      repository.write("sub/f.txt", "x\n");
      repository.git("-C", "sub", "-c", "filter.x.clean=", "add", "f.txt");
      repository.git("-C", "sub", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "y");
      repository.git("add", "sub");
      repository.write("sub/.git/info/attributes", "*.txt filter=x\n");
      repository.write("sub/f.txt", "y\n");
    },
  },
  {
    key: "submodule.NAME.ignore",
    operation: "STATUS",
    args: ["status"],
    set: (repository) => {
      submodule(repository, "core.fsmonitor");
      repository.config("submodule.sub.ignore", "none");
    },
  },
  {
    key: "remote.NAME.promisor and uploadpack",
    operation: "SHOW",
    args: ["show", "HEAD:file.txt"],
    set: (repository) => {
      remote(repository);
      const blob = repository.git("rev-parse", "HEAD:file.txt").trim();
      rmSync(join(repository.directory, ".git/objects", blob.slice(0, 2), blob.slice(2)));
      repository.config("core.repositoryFormatVersion", "1");
      repository.config("extensions.partialClone", "origin");
      repository.config("remote.origin.promisor", "true");
      repository.config("remote.origin.uploadpack", repository.mute);
    },
    fails: true,
  },
  {
    key: "core.alternateRefsCommand",
    operation: "LOG",
    args: ["log", "--alternate-refs", "--all"],
    set: (repository) => {
      repository.git("clone", "-q", "--bare", ".", "../other");
      writeFileSync(
        join(repository.directory, ".git/objects/info/alternates"),
        join(repository.root, "other/objects\n"),
      );
      repository.config("core.alternateRefsCommand", repository.trap);
    },
  },
  {
    key: "include.path",
    operation: "STATUS",
    args: ["status"],
    set: (repository) => {
      repository.write(
        "more",
        `[core]\n\tfsmonitor = ${repository.trap}\n[filter "x"]\n\tclean = ${repository.trap}\n`,
      );
      repository.config("include.path", "../more");
      attribute(repository, "x");
      dirty(repository);
    },
  },
  {
    key: "includeIf.onbranch:main.path",
    operation: "DIFF",
    args: ["diff"],
    set: (repository) => {
      repository.write("more", `[filter "x"]\n\tclean = ${repository.trap}\n`);
      repository.config("includeIf.onbranch:main.path", "../more");
      attribute(repository, "x");
      dirty(repository);
    },
  },
  {
    key: "status.submoduleSummary",
    operation: "STATUS",
    args: ["status"],
    set: (repository) => {
      submodule(repository, "core.fsmonitor");
      repository.config("status.submoduleSummary", "true");
    },
  },
  {
    key: "extensions.worktreeConfig",
    operation: "STATUS",
    args: ["status"],
    set: (repository) => {
      repository.config("extensions.worktreeConfig", "true");
      appendFileSync(join(repository.directory, ".git/config.worktree"), `[core]\n\tfsmonitor = ${repository.trap}\n`);
    },
  },
];
