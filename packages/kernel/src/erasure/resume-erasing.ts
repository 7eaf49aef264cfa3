import type { KernelParts } from "../kernel-parts.ts";
import { eraseContent } from "./erase-content.ts";
import { finishErasing } from "./finish-erasing.ts";
import { findUnfinished } from "./unfinished-erasure.ts";

/** Completes an erasure that a crash interrupted, before any call can find half-erased content. */
export async function resumeErasing(kernel: KernelParts): Promise<void> {
  const unfinished = await findUnfinished(kernel.store);
  if (unfinished !== undefined) await eraseContent(unfinished, kernel);
  const left = await kernel.store.listState("erasing", "", 1);
  if (left.length > 0) await finishErasing(kernel, []);
}
