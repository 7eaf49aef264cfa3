import type { ProtectedGroup } from "./protected-entry.ts";

export const PACKAGE_INSTALLERS: ProtectedGroup = {
  title: "Package managers",
  entries: [
    {
      reader: "npm",
      why: "names registries, credentials and programs",
      source: "https://docs.npmjs.com/cli/configuring-npm/npmrc",
      paths: [".npmrc"],
    },
    {
      reader: "Yarn",
      why: "runs the release, plugins, loaders and editor programs that lie there",
      source: "https://yarnpkg.com/configuration/yarnrc",
      paths: [
        ".yarnrc",
        ".yarnrc.yml",
        ".yarn/releases",
        ".yarn/plugins",
        ".yarn/sdks",
        ".pnp.cjs",
        ".pnp.js",
        ".pnp.loader.mjs",
      ],
    },
    {
      reader: "pnpm",
      why: "runs its hooks",
      source: "https://pnpm.io/pnpmfile",
      paths: [".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js"],
    },
    {
      reader: "Bun",
      why: "loads the files that `preload` names",
      source: "https://bun.sh/docs/runtime/bunfig",
      paths: ["bunfig.toml", ".bunfig.toml"],
    },
    {
      reader: "Cargo",
      why: "runs wrappers, linkers and runners; reads registries and credentials",
      source: "https://doc.rust-lang.org/cargo/reference/config.html",
      paths: [".cargo/config", ".cargo/config.toml", ".cargo/credentials", ".cargo/credentials.toml"],
    },
  ],
};
