import { KernelError } from "@narthex/contracts";
import type { ConfigEntry } from "./config-entries.ts";
import { CONFIG_LISTING, configOptions, type DangerousConfig, dangerousConfig } from "./dangerous-config.ts";
import type { GitOperationName } from "./git-operations.ts";
import { gitPrefix } from "./git-prefix.ts";
import type { GitRunner } from "./git-runner.ts";
import { type AddressBase, repositoryAddress } from "./repository-address.ts";
import { quoted, quotedAll } from "./shell-words.ts";

/** How git calls the repository at the other end, which has its own configuration and hooks. */
export interface RemoteHardening {
  /** Options of git, before the operation. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Options of the operation. */
  readonly options: readonly string[];
}

const MAX_ADDRESSES = 64;
const LIST_EACH = `for directory do git --git-dir="$directory" ${CONFIG_LISTING.join(" ")} 2>/dev/null; done; exit 0`;

/**
 * Makes the program at the other end as harmless as the one at this end.
 *
 * SECURITY: git starts `upload-pack` and `receive-pack` in the other repository without any of the kernel's options, so
 * they would read its configuration and run its hooks. Therefore the kernel supplies the command that starts them, with
 * every dangerous key of that repository overridden.
 */
export async function hardenRemote(
  git: GitRunner,
  operation: GitOperationName,
  addresses: readonly string[],
  base: AddressBase & { readonly entries: readonly ConfigEntry[] },
): Promise<RemoteHardening> {
  const remotes = remotesOf(base.entries);
  const paths = new Set<string>();
  for (const address of [...addresses, ...remotes.flatMap(({ urls }) => urls)]) {
    const found = repositoryAddress(address, base);
    if (found.kind === "inside") paths.add(found.path);
  }
  if (paths.size > MAX_ADDRESSES) {
    throw new KernelError("EXECUTION_FAILED", `the repository has more than ${MAX_ADDRESSES} remotes: remove some`);
  }
  const config = await listRemoteConfig(git, [...paths]);
  const [upload, receive] = [programCommand("upload-pack", config), programCommand("receive-pack", config)];
  // `fetch --all` does not pass on its option, but it does pass on the configuration.
  const settings = new Map<string, string>();
  for (const { name } of remotes) {
    settings.set(`remote.${name}.uploadpack`, upload);
    settings.set(`remote.${name}.receivepack`, receive);
  }
  const option = operation === "PUSH" ? `--receive-pack=${receive}` : `--upload-pack=${upload}`;
  return { ...configOptions(settings, "NARTHEX_GIT_REMOTE"), options: [option] };
}

function remotesOf(entries: readonly ConfigEntry[]): { readonly name: string; readonly urls: string[] }[] {
  const remotes = new Map<string, string[]>();
  for (const { key, value = "" } of entries) {
    const name = /^remote\.(.+)\.(?:url|pushurl)$/s.exec(key)?.[1];
    if (name !== undefined) remotes.set(name, [...(remotes.get(name) ?? []), value]);
  }
  return [...remotes].map(([name, urls]) => ({ name, urls }));
}

/** The combined configuration of these repositories. */
async function listRemoteConfig(git: GitRunner, paths: readonly string[]): Promise<DangerousConfig> {
  // The directories that git tries, in its order; missing ones list nothing.
  const directories = paths.flatMap((path) => [`${path}/.git`, path, `${path}.git/.git`, `${path}.git`]);
  const { stdout } =
    directories.length === 0
      ? { stdout: new Uint8Array() }
      : await git.captureCommand(["/bin/sh", "-c", LIST_EACH, "sh", ...directories]);
  // The program only serves or receives objects; for the config rules it counts as reading.
  const config = dangerousConfig(stdout, "LOG");
  if (config.refusals.length === 0) return config;
  throw new KernelError("EXECUTION_FAILED", `the other repository has ${config.refusals.join("; ")}`);
}

/** The command line that git passes to a shell, with the path appended. */
function programCommand(program: "upload-pack" | "receive-pack", config: DangerousConfig): string {
  const environment = { ...config.environment, GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" };
  const assignments = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  // A push never changes checked-out files, and no garbage collection follows it.
  const settings = ["-c", "receive.denyCurrentBranch=refuse", "-c", "receive.autogc=false"];
  const command = [...gitPrefix("LOG").argv, ...config.argv, ...settings, program];
  return [...assignments, quotedAll(command)].join(" ");
}
