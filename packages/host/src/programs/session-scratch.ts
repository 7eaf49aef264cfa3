import { chown, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type SandboxIdentity, type SandboxMount, SCRATCH_PATH } from "../sandbox/sandbox-plan.ts";

/** A directory of each session's own, until the session ends. */
export class SessionScratch {
  readonly #made = new Map<string, Promise<SandboxMount>>();

  /** `parent` is where the homes of workspaces lie: programs can go through it, and not list it. */
  mountFor(sessionId: string, parent: string, identity: SandboxIdentity): Promise<SandboxMount> {
    const known = this.#made.get(sessionId);
    if (known !== undefined) return known;
    const making = makeScratch(join(parent, `scratch-${sessionId}`), identity);
    this.#made.set(sessionId, making);
    making.catch(() => this.#made.delete(sessionId));
    return making;
  }

  async remove(sessionId: string): Promise<void> {
    const made = await this.#made.get(sessionId);
    if (made === undefined) return;
    this.#made.delete(sessionId);
    await rm(made.source, { recursive: true, force: true });
  }
}

async function makeScratch(source: string, identity: SandboxIdentity): Promise<SandboxMount> {
  await mkdir(source, { recursive: true, mode: 0o700 });
  if (process.getuid?.() === 0) await chown(source, identity.uid, identity.gid);
  return { source, target: SCRATCH_PATH, access: "write" };
}
