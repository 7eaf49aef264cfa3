import { userInfo } from "node:os";

/** Who sits here, as far as the system knows. */
export function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
