import type { KernelParts } from "../kernel-parts.ts";
import { eraseContent } from "./erase-content.ts";
import { finishErasing } from "./finish-erasing.ts";
import { findUnfinished } from "./unfinished-erasure.ts";

/** Completes what a crash cut short, before any call could find what is only half gone. */
export async function resumeErasing(kernel: KernelParts): Promise<void> {
  const unfinished = await findUnfinished(kernel.store);
  if (unfinished !== undefined) await eraseContent(unfinished, kernel);
  const left = await kernel.store.listState("erasing", "", 1);
  if (left.length > 0) await finishErasing(kernel, []);
}
