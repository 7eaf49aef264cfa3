import { lstat, mkdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";

const OTHERS_MAY_ANYTHING = 0o077;

/**
 * Opens the directory where all kernels of this user keep their workspace locks, whatever their homes and environments
 * are.
 *
 * SECURITY: if other users could take these locks, they could block every program of a workspace. So the directory must
 * be private to this user. All places but the last can be created by this user only; the last one is for users without
 * a home, and if another user occupies it, the error names that user.
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
    // Not from the variable HOME: two kernels of one user may have different values.
    return [join(userInfo().homedir, ".local/state/narthex/locks"), ...elsewhere];
  } catch {
    return elsewhere;
  }
}
