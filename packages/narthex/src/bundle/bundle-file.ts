import { type FileHandle, open } from "node:fs/promises";
import { type Bundle, type BundleFile, BundleFault, openBundle } from "@narthex/verify";
import { CommandError } from "../terminal/command-error.ts";

/** Opens a bundle for the duration of `use`. Throws LEDGER_UNREADABLE if the file is not a bundle. */
export async function withBundle<T>(path: string, use: (bundle: Bundle) => Promise<T>): Promise<T> {
  const handle = await open(path, "r").catch((cause: unknown) => {
    throw unreadableBundle(path, cause);
  });
  try {
    const bundle = await openBundle(await fileOf(handle)).catch((cause: unknown) => {
      throw unreadableBundle(path, cause);
    });
    return await use(bundle);
  } catch (error) {
    throw error instanceof BundleFault ? unreadableBundle(path, error) : error;
  } finally {
    await handle.close();
  }
}

async function fileOf(handle: FileHandle): Promise<BundleFile> {
  const facts = await handle.stat();
  if (!facts.isFile()) throw new BundleFault("it is not a file");
  return {
    size: facts.size,
    async read(offset, length) {
      const bytes = Buffer.allocUnsafe(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
        if (bytesRead === 0) throw new BundleFault("it ends too early");
        filled += bytesRead;
      }
      return bytes;
    },
  };
}

function unreadableBundle(path: string, cause: unknown): CommandError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CommandError("LEDGER_UNREADABLE", `the bundle \`${path.slice(0, 200)}\` cannot be read: ${reason}`, {
    cause,
    next: "name a file that `narthex ledger export` wrote; if it is one, have it sent again",
  });
}
