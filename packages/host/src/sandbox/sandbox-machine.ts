import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NamedPipes } from "./named-pipes.ts";
import type { SandboxIdentity } from "./sandbox-plan.ts";
import { createSeccompFilter, type SandboxArchitecture, type SocketFamily } from "./seccomp/seccomp-filter.ts";
import { createSystemFiles, type SystemFiles } from "./system-files.ts";

/** Programs and files that every sandbox of this process is created with. */
export interface SandboxMachine {
  /** Absolute path of bubblewrap. */
  readonly bubblewrap: string;
  readonly architecture: SandboxArchitecture;
  /** File descriptors that this process inherited and its children would inherit. */
  readonly inherited: readonly number[];
  /** Private to the kernel: sandboxes receive its files only as open descriptors. */
  readonly directory: string;
}

export interface FilterChoice {
  readonly socketFamilies: readonly SocketFamily[];
  readonly mayFork: boolean;
  readonly countsAllMemory?: boolean;
}

/**
 * Files that sandboxes are started with, written once per variant. Every start reopens them: two sandboxes that shared
 * an open file would share its position, and the second would read nothing.
 */
export class SandboxFiles {
  readonly #machine: SandboxMachine;
  readonly #written = new Map<string, Promise<string>>();
  /** Pipes for the output of programs. */
  readonly pipes: NamedPipes;

  constructor(machine: SandboxMachine) {
    this.#machine = machine;
    this.pipes = NamedPipes.at(join(machine.directory, "pipes"));
  }

  filter({ socketFamilies, mayFork, countsAllMemory = false }: FilterChoice): Promise<string> {
    const { architecture } = this.#machine;
    const name = `seccomp-${architecture}-${socketFamilies.join("-") || "none"}-${mayFork ? "fork" : "alone"}-${countsAllMemory ? "counted" : "watched"}`;
    return this.#write(name, () => createSeccompFilter({ architecture, socketFamilies, mayFork, countsAllMemory }));
  }

  async system(identity: SandboxIdentity): Promise<Readonly<Record<keyof SystemFiles, string>>> {
    const files = createSystemFiles(identity);
    const place = (name: keyof SystemFiles): Promise<string> =>
      this.#write(`${name}-${identity.uid}-${identity.gid}`, () => files[name]);
    const [passwd, group, hosts, nsswitch] = await Promise.all([
      place("passwd"),
      place("group"),
      place("hosts"),
      place("nsswitch.conf"),
    ]);
    return { passwd, group, hosts, "nsswitch.conf": nsswitch };
  }

  #write(name: string, content: () => string | Buffer): Promise<string> {
    const known = this.#written.get(name);
    if (known !== undefined) return known;
    const path = join(this.#machine.directory, name);
    const writing = mkdir(this.#machine.directory, { recursive: true, mode: 0o700 })
      .then(() => writeFile(path, content(), { mode: 0o600 }))
      .then(() => path);
    this.#written.set(name, writing);
    writing.catch(() => this.#written.delete(name));
    return writing;
  }
}
