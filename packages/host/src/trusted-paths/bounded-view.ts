import { KernelError } from "@narthex/contracts";
import type { WorkspaceView } from "./workspace-view.ts";

const MAX_LOOKS = 16_384;

/**
 * A workspace for the time of one search: each path is looked at once, and only so many are.
 *
 * SECURITY: a stranger's repository, or a program in directories where it may, makes links that lead through long chains
 * of others. Following each from its beginning kept every call waiting. Too many are refused, because a link that is not
 * followed leaves its end unguarded.
 */
export class BoundedView implements WorkspaceView {
  readonly #view: WorkspaceView;
  readonly #looks = new Map<string, ReturnType<WorkspaceView["inspectAt"]>>();

  constructor(view: WorkspaceView) {
    this.#view = view;
  }

  async inspectAt(path: string): ReturnType<WorkspaceView["inspectAt"]> {
    const known = this.#looks.get(path);
    if (known !== undefined) return await known;
    if (this.#looks.size >= MAX_LOOKS) {
      const message = `the workspace has more than ${MAX_LOOKS} files and links at protected paths, and one more would not be guarded: remove some`;
      throw new KernelError("RESOURCE_EXCEEDED", message);
    }
    const looking = this.#view.inspectAt(path);
    this.#looks.set(path, looking);
    return await looking;
  }

  namesAt(path: string): ReturnType<WorkspaceView["namesAt"]> {
    return this.#view.namesAt(path);
  }

  kindsAt(path: string): ReturnType<WorkspaceView["kindsAt"]> {
    return this.#view.kindsAt(path);
  }

  readAt(path: string, maxBytes: number): ReturnType<WorkspaceView["readAt"]> {
    return this.#view.readAt(path, maxBytes);
  }

  chunksAt(path: string): ReturnType<WorkspaceView["chunksAt"]> {
    return this.#view.chunksAt(path);
  }
}
