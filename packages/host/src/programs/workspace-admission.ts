/**
 * Lets sandboxes that write one workspace run at the same time only if they have the same guards.
 *
 * SECURITY: a sandbox created before a path was guarded can still change it. When the set of guards changes, sandboxes
 * with the old set end first.
 */
export class WorkspaceAdmission {
  readonly #places = new Map<string, AdmittedGroup>();

  /**
   * Returns undefined while a program with another key runs in this workspace, or any program in a workspace that
   * contains it or is inside it.
   */
  tryEnter(workspace: string, key: string, onAsked?: () => void): Admission | undefined {
    const known = this.#places.get(workspace);
    if (this.#overlapping(workspace).some((place) => place !== known || place.key !== key)) return undefined;
    const place = known ?? { key, live: new Set<Admission>() };
    this.#places.set(workspace, place);
    const { promise, resolve } = Promise.withResolvers<void>();
    const entrance: Admission = {
      left: promise,
      askToLeave: () => onAsked?.(),
      leave: () => {
        place.live.delete(entrance);
        if (place.live.size === 0 && this.#places.get(workspace) === place) this.#places.delete(workspace);
        resolve();
      },
    };
    place.live.add(entrance);
    return entrance;
  }

  /** Asks long-running programs to leave; resolves when one program has left. */
  async waitForLeave(workspace: string): Promise<void> {
    const live = this.#overlapping(workspace).flatMap((place) => [...place.live]);
    for (const entrance of live) entrance.askToLeave();
    if (live.length > 0) await Promise.race(live.map((entrance) => entrance.left));
  }

  #overlapping(workspace: string): AdmittedGroup[] {
    return [...this.#places]
      .filter(([other]) => containsWorkspace(other, workspace) || containsWorkspace(workspace, other))
      .map(([, place]) => place);
  }
}

/** Whether the outer workspace is or contains the inner one. */
export function containsWorkspace(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(`${outer}/`);
}

interface AdmittedGroup {
  readonly key: string;
  readonly live: Set<Admission>;
}

export interface Admission {
  readonly left: Promise<void>;
  askToLeave(): void;
  leave(): void;
}
