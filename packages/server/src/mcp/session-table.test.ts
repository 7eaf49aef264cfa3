import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelError } from "@narthex/contracts";
import { createTestKernel } from "../test-kernel.ts";
import { createKernelSource } from "./mcp-source.ts";
import { createSessionTable } from "./session-table.ts";

test("a session counts as ended only if the kernel says so, not if the kernel is unreachable", async () => {
  const kernel = createTestKernel();
  const source = createKernelSource(kernel);
  const failing = (fault: Error) =>
    createSessionTable({ ...source, requireOpen: () => Promise.reject(fault) }, { version: "1" }, { maxSessions: 1 });
  const ended = failing(new KernelError("SESSION_CLOSED", "the session is closed"));
  assert.equal(await ended.isOpen(kernel.token), false);
  const unreachable = failing(new KernelError("KERNEL_UNREACHABLE", "nobody answers"));
  assert.equal(await unreachable.isOpen(kernel.token), true);
  assert.equal(await failing(new Error("no descriptors left")).isOpen(kernel.token), true);
  const table = createSessionTable(source, { version: "1" }, { maxSessions: 1 });
  assert.equal(await table.isOpen("ntx_another"), false);
  assert.equal(await table.isOpen(kernel.token), true);
});
