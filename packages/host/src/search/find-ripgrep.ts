/** Returns the path of the ripgrep that is shipped with the package; the host is not searched. Loaded on demand. */
export async function findRipgrep(): Promise<string> {
  const { rgPath } = await import("@vscode/ripgrep");
  return rgPath;
}
