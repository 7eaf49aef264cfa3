import type { ProtectedGroup } from "./protected-entry.ts";

export const EDITORS: ProtectedGroup = {
  title: "Editors and development environments",
  entries: [
    {
      reader: "Visual Studio Code",
      why: "runs tasks, debuggers and programs that its settings name",
      source: "https://code.visualstudio.com/docs/configure/settings",
      paths: [".vscode", "*.code-workspace"],
    },
    {
      reader: "Visual Studio",
      why: "runs tasks and debuggers",
      source: "https://learn.microsoft.com/en-us/visualstudio/ide/customize-build-and-debug-tasks-in-visual-studio",
      paths: [".vs", "tasks.vs.json", "launch.vs.json"],
    },
    {
      reader: "JetBrains IDEs",
      why: "run configurations, start-up tasks and file watchers",
      source: "https://www.jetbrains.com/help/idea/run-debug-configuration.html",
      paths: [".idea", ".run", ".fleet"],
    },
    {
      reader: "Zed",
      why: "runs tasks, language servers and debuggers",
      source: "https://zed.dev/docs/configuring-zed",
      paths: [".zed"],
    },
    {
      reader: "Vim and Neovim",
      why: "run them as a script where `exrc` is set",
      source: "https://neovim.io/doc/user/options.html",
      paths: [".exrc", ".nvimrc", ".nvim.lua", ".vimrc", ".vim", ".lvimrc", ".local.vimrc", ".vimspector.json"],
    },
    {
      reader: "Emacs",
      why: "evaluates forms of directory variables",
      source: "https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html",
      paths: [".dir-locals.el", ".dir-locals-2.el", ".emacs", ".emacs.d"],
    },
    {
      reader: "Helix",
      why: "runs language servers and formatters",
      source: "https://docs.helix-editor.com/configuration.html",
      paths: [".helix"],
    },
    {
      reader: "Sublime Text",
      why: "runs build systems",
      source: "https://www.sublimetext.com/docs/projects.html",
      paths: ["*.sublime-project", "*.sublime-workspace"],
    },
    {
      reader: "Nova",
      why: "runs tasks",
      source: "https://nova.app/",
      paths: [".nova"],
    },
    {
      reader: "Eclipse",
      why: "runs external builders",
      source: "https://help.eclipse.org/latest/",
      paths: [".externalToolBuilders"],
    },
    {
      reader: "Lua language server",
      why: "loads plugins",
      source: "https://luals.github.io/wiki/configuration/",
      paths: [".luarc.json", ".luarc.jsonc"],
    },
    {
      reader: "rust-analyzer",
      why: "runs the commands that override its checks",
      source: "https://rust-analyzer.github.io/book/configuration.html",
      paths: ["rust-analyzer.toml", ".rust-analyzer.toml"],
    },
    {
      reader: "development containers",
      why: "run commands as a container is made and started, some on the host",
      source: "https://containers.dev/implementors/json_reference/",
      paths: [".devcontainer", ".devcontainer.json"],
    },
    {
      reader: "Gitpod",
      why: "runs tasks as a workspace starts",
      source: "https://www.gitpod.io/docs/",
      paths: [".gitpod.yml", ".gitpod", ".ona"],
    },
    {
      reader: "Replit",
      why: "runs commands as a workspace starts",
      source: "https://docs.replit.com/",
      paths: [".replit", "replit.nix"],
    },
    {
      reader: "Firebase Studio",
      why: "runs hooks as a workspace starts",
      source: "https://firebase.google.com/docs/studio/customize-workspace",
      paths: [".idx"],
    },
    {
      reader: "CodeSandbox and StackBlitz",
      why: "run tasks as a workspace starts",
      source: "https://codesandbox.io/docs/learn",
      paths: [".codesandbox", ".stackblitzrc"],
    },
  ],
};
