import { KernelError } from "@narthex/contracts";
import type { WorkspaceView } from "./workspace-view.ts";

const MAX_LOOKS = 16_384;

/**
 * View of a workspace for one search: inspects each path once, and at most `MAX_LOOKS` paths.
 *
 * SECURITY: an untrusted repository, or a program where it may write, can create links that lead through long chains of
 * others. Following each from its beginning would block every call. Too many are rejected, because the target of a link
 * that is not followed would be unguarded.
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
