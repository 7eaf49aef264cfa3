import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, type NarthexKernel, type OpenKernelOptions } from "narthex";

export interface KernelAtWork {
  readonly kernel: NarthexKernel;
  readonly workspace: string;
}

/** Starts a kernel on a home of its own, and puts everything away whatever happens. */
export async function withKernel<T>(
  options: Omit<OpenKernelOptions, "data">,
  work: (at: KernelAtWork) => Promise<T>,
): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), "narthex-campaign-"));
  try {
    const workspace = join(root, "workspace");
    await mkdir(workspace);
    const kernel = await createKernel({ ...options, data: join(root, "home") });
    try {
      return await work({ kernel, workspace });
    } finally {
      await kernel.close();
    }
  } finally {
    await rm(root, { recursive: true });
  }
}
