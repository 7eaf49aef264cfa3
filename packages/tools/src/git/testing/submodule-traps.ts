import { submodule, type Trap } from "./trap.ts";

/** Traps in a submodule, for operations that look into it. */
export const SUBMODULE_TRAPS: readonly Trap[] = (["COMMIT", "ADD", "STASH"] as const).map(
  (operation): Trap => ({
    key: "filter.NAME.clean of a submodule",
    operation,
    args: { COMMIT: ["commit", "-a", "-m", "x", "--allow-empty"], ADD: ["add", "-u"], STASH: ["stash", "push"] }[
      operation
    ],
    set: (repository) => {
      submodule(repository, "filter.x.clean");
      repository.write("sub/f.txt", "x\n");
      repository.git("-C", "sub", "-c", "filter.x.clean=", "add", "f.txt");
      repository.git("-C", "sub", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "y");
      repository.git("add", "sub");
      repository.git("commit", "-q", "-m", "y");
      repository.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n');
      repository.write("sub/.git/info/attributes", "*.txt filter=x\n");
      repository.write("sub/f.txt", "y\n");
    },
    again: (repository) => {
      repository.write("file.txt", `${repository.sprung()}${repository.git("rev-parse", "HEAD")}`);
      // Same length as before, so that git has to compare the content.
      repository.write("sub/f.txt", "y\n");
    },
  }),
);
