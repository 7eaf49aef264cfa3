import { lstat, mkdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";

const OTHERS_MAY_ANYTHING = 0o077;

/**
 * Where all kernels of this user keep their locks of workspaces, whatever their homes and environments are.
 *
 * SECURITY: a lock that other users could take would let them stop every program of a workspace. The directory is this
 * user's alone. It lies where only this user can make it; the last place is for users without a home, where another user
 * who was there first is named.
 */
export async function openLockDirectory(places: readonly string[] = lockPlaces()): Promise<string> {
  let problem = "there is no place for it";
  for (const place of places) {
    try {
      await mkdir(place, { recursive: true, mode: 0o700 });
      const { uid, mode } = await lstat(place);
      if (uid === process.getuid?.() && (mode & OTHERS_MAY_ANYTHING) === 0) return place;
      problem = `\`${place}\` belongs to user ${uid} or is open to others: remove it`;
    } catch (fault) {
      problem = fault instanceof Error ? fault.message : String(fault);
    }
  }
  throw new KernelError("SANDBOX_UNAVAILABLE", `workspaces cannot be locked: ${problem}`);
}

function lockPlaces(): readonly string[] {
  const uid = process.getuid?.() ?? 0;
  const elsewhere = [`/run/user/${uid}/narthex/locks`, `/tmp/narthex-locks-${uid}`];
  try {
    // Not the variable HOME, which two kernels of one user may have been given differently.
    return [join(userInfo().homedir, ".local/state/narthex/locks"), ...elsewhere];
  } catch {
    return elsewhere;
  }
}
