import { isNarthexOnPath, ON_PATH_VARIABLE } from "../connect/narthex-command.ts";

/** PATH of system programs. A client's own PATH belongs to its session and not to the kernel. */
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * The user's directories and language, which are the same in every terminal, and variables that configure Narthex
 * itself.
 */
const PASSED_VARIABLES = [
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
  "XDG_CONFIG_HOME",
  "NARTHEX_DEBUG",
];
const LOCALE = /^LC_[A-Z]+$/;

/**
 * Builds the environment of a kernel that a client starts.
 *
 * SECURITY: the kernel serves other clients too, so nothing else of the first client's environment reaches it: no
 * tokens, no NODE_OPTIONS, no proxies. The exceptions are the variables that the configuration names as sources of
 * secrets.
 */
export function createKernelEnvironment(
  client: NodeJS.ProcessEnv,
  secretVariables: Iterable<string>,
): NodeJS.ProcessEnv {
  const names = new Set([
    ...PASSED_VARIABLES,
    ...Object.keys(client).filter((name) => LOCALE.test(name)),
    ...secretVariables,
  ]);
  const kept = [...names].flatMap((name) => {
    const value = client[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    PATH: SYSTEM_PATH,
    ...(isNarthexOnPath(client) && { [ON_PATH_VARIABLE]: "1" }),
  };
}
