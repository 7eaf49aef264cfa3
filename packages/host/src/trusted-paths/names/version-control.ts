import type { ProtectedGroup } from "./protected-entry.ts";

export const VERSION_CONTROL: ProtectedGroup = {
  title: "Version control and its hooks",
  entries: [
    {
      reader: "git",
      why: "runs hooks, filters, monitors and aliases that its configuration names",
      source: "https://git-scm.com/docs/git-config",
      paths: [".git", ".gitconfig", ".config/git"],
    },
    {
      reader: "Mercurial",
      why: "runs hooks, aliases and extensions that its configuration names",
      source: "https://www.mercurial-scm.org/doc/hgrc.5.html",
      paths: [".hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", ".hgrc"],
    },
    {
      reader: "Jujutsu",
      why: "runs aliases, tools and fix commands that its configuration names",
      source: "https://jj-vcs.github.io/jj/latest/config/",
      paths: [".jj/repo/config.toml", ".jj/workspace-config.toml", ".jjconfig.toml"],
    },
    {
      reader: "Sapling",
      why: "runs hooks, aliases and extensions that its configuration names",
      source: "https://sapling-scm.com/docs/introduction/",
      paths: [".sl/config"],
    },
    {
      reader: "husky",
      why: "runs its files as git hooks",
      source: "https://typicode.github.io/husky/",
      paths: [".husky", ".huskyrc", ".huskyrc.*"],
    },
    {
      reader: "pre-commit and prek",
      why: "run the commands named here before each commit",
      source: "https://pre-commit.com/",
      paths: [".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"],
    },
    {
      reader: "lefthook",
      why: "runs the commands and scripts named here as git hooks",
      source: "https://lefthook.dev/configuration",
      paths: [
        "lefthook.*",
        ".lefthook.*",
        "lefthook-local.*",
        ".lefthook-local.*",
        ".config/lefthook.*",
        ".config/lefthook-local.*",
        ".lefthook",
        ".lefthook-local",
      ],
    },
    {
      reader: "overcommit",
      why: "runs the hooks named here",
      source: "https://github.com/sds/overcommit",
      paths: [".overcommit.yml", ".git-hooks"],
    },
    {
      reader: "simple-git-hooks",
      why: "installs the commands named here as git hooks",
      source: "https://github.com/toplenboren/simple-git-hooks",
      paths: [".simple-git-hooks.*", "simple-git-hooks.*"],
    },
    {
      reader: "CaptainHook",
      why: "runs the commands named here as git hooks",
      source: "https://github.com/captainhookphp/captainhook",
      paths: ["captainhook.json"],
    },
    {
      reader: "GrumPHP",
      why: "runs the tasks named here as git hooks",
      source: "https://github.com/phpro/grumphp",
      paths: ["grumphp.yml", "grumphp.yml.dist"],
    },
    {
      reader: "hk",
      why: "runs the steps named here as git hooks",
      source: "https://hk.jdx.dev/",
      paths: ["hk.pkl", ".hk", ".hk-hooks"],
    },
    {
      reader: "cargo-husky",
      why: "installs its files as git hooks",
      source: "https://github.com/rhysd/cargo-husky",
      paths: [".cargo-husky"],
    },
  ],
};
