import { userInfo } from "node:os";

/** Name of the current user, as far as the system knows it. */
export function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
