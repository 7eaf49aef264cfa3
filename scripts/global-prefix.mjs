// Must run on any Node since 16: no dependencies, no newer syntax.
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** Where npm puts a command and its package below a prefix. */
export function globalPaths(prefix) {
  const folder = join(prefix, "bin");
  return { folder, command: join(folder, "narthex"), package: join(prefix, "lib", "node_modules", "narthex") };
}

/** npm's own prefix for global packages if the user may write there, otherwise `~/.local`. */
export function choosePrefix(npmPrefix, home, mayWrite = isWritable) {
  const { folder, package: packageFolder } = globalPaths(npmPrefix);
  return [folder, dirname(packageFolder)].every((path) => mayWrite(path)) ? npmPrefix : join(home, ".local");
}

/** The file that a shell with this PATH runs as `narthex`, if any. */
export function commandOnPath(path) {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, "narthex")).find((file) => existsSync(file));
}

/** A message for a user whose shell does not run the installed command by its name; undefined if it does. */
export function pathProblem(prefix, path, home) {
  const { folder, command } = globalPaths(prefix);
  const found = commandOnPath(path);
  if (found && realpathSync(found) === realpathSync(command)) return undefined;
  if (found)
    return `your shell runs ${found} as narthex, which is another one: remove it, or put ${folder} before it on PATH`;
  const shown = folder.startsWith(join(home, "/")) ? `$HOME/${folder.slice(join(home, "/").length)}` : folder;
  return `${folder} is not on your PATH; put this line into ~/.profile and log in again:\n  export PATH="${shown}:$PATH"`;
}

/** For a folder that does not exist yet: whether it can be created. */
function isWritable(folder) {
  if (!existsSync(folder)) return dirname(folder) !== folder && isWritable(dirname(folder));
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
