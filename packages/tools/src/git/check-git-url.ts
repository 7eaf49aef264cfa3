/** Which repository addresses are valid. */
export interface GitUrlRules {
  /** Allowed schemes, such as `https`; `file` also allows paths. */
  readonly protocols: ReadonlySet<string>;
  /** The name of a remote is valid too. */
  readonly remoteName?: true;
}

const REMOTE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;
/** `host:path`, with no slash before the colon. */
const SCP_LIKE = /^(?:[^/:@\s]+@)?([^/:@\s]+):(?!\/\/)/;

/**
 * Returns what is wrong with a repository's address, or undefined if it is valid.
 * SECURITY: `helper::address` makes git run the program `git-remote-helper`, `ext::` any program at all, and a host
 * that starts with a dash is an option to ssh.
 */
export function checkGitUrl(url: string, { protocols, remoteName }: GitUrlRules): string | undefined {
  if (url === "") return "must not be empty";
  if (/[\0-\x20\x7f]/.test(url)) return "must not contain white space or control characters";
  if (url.startsWith("-")) return "must not start with a dash";
  if (/^[^/]*::/.test(url)) return "must not name a transport helper";
  const allowed = [...protocols].sort().join(", ");
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (scheme !== undefined) {
    if (!protocols.has(scheme)) return `must have one of the schemes ${allowed}`;
    return scheme === "file" ? undefined : checkAuthority(url.slice(scheme.length + 3));
  }
  const host = SCP_LIKE.exec(url)?.[1];
  if (host !== undefined) {
    if (!protocols.has("ssh")) return `must have one of the schemes ${allowed}`;
    return host.startsWith("-") ? "must not have a host that starts with a dash" : undefined;
  }
  if (remoteName && REMOTE_NAME.test(url) && !url.includes("..")) return undefined;
  return protocols.has("file") ? undefined : `must have one of the schemes ${allowed}: paths are not allowed`;
}

function checkAuthority(rest: string): string | undefined {
  const authority = rest.split(/[/?#]/, 1)[0] ?? "";
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  if (host === "" || host.startsWith("-")) return "must have a host";
  if (at !== -1 && authority.slice(0, at).startsWith("-")) return "must not have a user that starts with a dash";
  // The gate adds the credential; one in the address would end up in the ledger and in git's configuration.
  if (at !== -1 && authority.slice(0, at).includes(":")) return "must not contain a password";
  return undefined;
}
