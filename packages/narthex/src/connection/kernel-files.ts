import { realpath } from "node:fs/promises";
import { readAdminToken } from "@narthex/host/admin-token";
import { type HomePaths, homePaths } from "@narthex/host/home-paths";
import { findSocketPaths, type SocketPaths } from "@narthex/host/socket-paths";
import { CommandError } from "../terminal/command-error.ts";

/** Returns the socket paths of a home's kernel, whether or not one runs. */
export async function findSockets(home: string): Promise<SocketPaths> {
  return findSocketPaths(await realPaths(home));
}

/** Reads the admin token, which lets anyone who can read the home administer its kernel. */
export async function findAdminToken(home: string): Promise<string> {
  const paths = await realPaths(home);
  try {
    return await readAdminToken(paths);
  } catch (cause) {
    throw new CommandError("KERNEL_UNREACHABLE", `the administrator's token in \`${paths.run}\` cannot be read`, {
      cause,
      next: "run the command as the user who owns the kernel's home",
    });
  }
}

/** The kernel uses the home's real path, whose length decides where its sockets are. */
async function realPaths(home: string): Promise<HomePaths> {
  return homePaths(await realpath(home).catch(() => home));
}
