/**
 * Lets sandboxes that write one workspace run beside each other only if they have the same guards.
 *
 * SECURITY: a sandbox made before a path was guarded can still change it. When the set of guards changes, those that run
 * with the old one end first.
 */
export class WorkspaceAdmission {
  readonly #places = new Map<string, AdmittedGroup>();

  /** Undefined while somebody is inside with another key, or in a workspace around this one, or in one inside it. */
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

  /** Resolves when one of those inside has left. Those who would stay for long are asked to. */
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

/** Whether one workspace is, or lies in, the other. */
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
