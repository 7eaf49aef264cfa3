import { removeOwnTree } from "../system/remove-own-tree.ts";

/** Removes an unfinished copy. Why it is unfinished is worth more than why it cannot be removed. */
export function removeDraft(path: string): void {
  try {
    removeOwnTree(path);
  } catch {
    // Its name says that it is partial.
  }
}
