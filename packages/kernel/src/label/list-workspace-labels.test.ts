import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelError } from "@narthex/contracts";
import { createLabelledKernel } from "./testing/labelled-kernel.ts";

/** A machine with a few directories, some by other names; all else is not there, and the root is no workspace. */
const REAL = new Map([
  ["/projects/a", "/projects/a"],
  ["/link", "/projects/a"],
  ["/projects/a/inside", "/projects/a/inside"],
  ["/plain", "/plain"],
]);

async function createMachine() {
  const real = new Map(REAL);
  const at = await createLabelledKernel({
    resolveWorkspace: async (workspace) => {
      const found = real.get(workspace);
      if (found === undefined) throw new KernelError("WORKSPACE_REFUSED", `\`${workspace}\` does not exist`);
      return found;
    },
  });
  const writer = await at.open({ workspace: "/link", labels: ["secret"] });
  await writer.call("write_there", {});
  return { ...at, real };
}

const LABELLED = [{ workspace: "/projects/a", labels: ["secret"] }];

test("rejects a missing, unknown directory instead of listing it without labels", async () => {
  const { kernel } = await createMachine();
  for (const workspace of ["/nowhere", "/projects/b", "/linked"]) {
    await assert.rejects(kernel.listWorkspaceLabels(workspace), { code: "WORKSPACE_REFUSED" }, workspace);
    await assert.rejects(kernel.clearWorkspaceLabels({ workspace, by: "ann" }), { code: "WORKSPACE_REFUSED" });
  }
  assert.deepEqual(await kernel.listWorkspaceLabels("/plain"), []);
});

test("finds a directory by any of its names, by a parent directory, and after its removal", async () => {
  const { kernel, real } = await createMachine();
  for (const workspace of ["/projects/a", "/link", "/projects/a/inside", "/projects", "/"]) {
    assert.deepEqual(await kernel.listWorkspaceLabels(workspace), LABELLED, workspace);
  }
  for (const workspace of ["/projects", "/", "/projects/a/inside"]) {
    const clearing = kernel.clearWorkspaceLabels({ workspace, by: "ann" });
    await assert.rejects(clearing, { code: "WORKSPACE_REFUSED", message: /no labels of its own.*`\/projects\/a`/ });
  }
  real.clear();
  assert.deepEqual(await kernel.listWorkspaceLabels("/projects/a"), LABELLED);
  assert.deepEqual((await kernel.clearWorkspaceLabels({ workspace: "/projects/a", by: "ann" })).labels, ["secret"]);
});

test("clearing labels by another name of a directory clears the directory itself", async () => {
  const { kernel } = await createMachine();
  assert.deepEqual((await kernel.clearWorkspaceLabels({ workspace: "/link", by: "ann" })).labels, ["secret"]);
  assert.deepEqual(await kernel.listWorkspaceLabels("/projects/a"), []);
});
