import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * A private directory whose files are replaced atomically: a reader sees the old or the new content, also after a
 * crash.
 */
export class DurableDirectory {
  readonly path: string;
  #held: Promise<FileHandle> | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Writes a file. It is durable when the promise resolves. */
  async write(name: string, text: string): Promise<void> {
    const held = await this.#hold();
    const draft = join(this.path, `${name}.${process.pid}.${randomUUID()}`);
    try {
      const file = await open(draft, "wx", 0o600);
      try {
        await file.writeFile(text);
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(draft, join(this.path, name));
      await held.sync();
    } catch (fault) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw fault;
    }
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.path, name), { force: true });
  }

  /** Closes the directory handle; the next write opens it again. */
  async close(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    await (await held)?.close();
  }

  #hold(): Promise<FileHandle> {
    this.#held ??= this.#open();
    this.#held.catch(() => (this.#held = undefined));
    return this.#held;
  }

  async #open(): Promise<FileHandle> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    return await open(this.path, "r");
  }
}
