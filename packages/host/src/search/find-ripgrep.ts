/** The ripgrep that comes with the package: nothing is looked for on the host. Loaded when it is needed. */
export async function findRipgrep(): Promise<string> {
  const { rgPath } = await import("@vscode/ripgrep");
  return rgPath;
}
