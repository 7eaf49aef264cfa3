import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WorkspaceAdmission } from "./workspace-admission.ts";

describe("the gate of a workspace", () => {
  it("admits programs with the same guards, and others only when all have left", async () => {
    const gate = new WorkspaceAdmission();
    const [first, second] = [gate.tryEnter("/a", "one"), gate.tryEnter("/a", "one")];
    assert.ok(first !== undefined && second !== undefined);
    assert.equal(gate.tryEnter("/a", "two"), undefined);
    first.leave();
    assert.equal(gate.tryEnter("/a", "two"), undefined);
    second.leave();
    assert.ok(gate.tryEnter("/a", "two") !== undefined);
    assert.equal(gate.tryEnter("/a", "one"), undefined);
    await first.left;
  });

  it("is each workspace's own", () => {
    const gate = new WorkspaceAdmission();
    assert.ok(gate.tryEnter("/a", "one") !== undefined);
    assert.ok(gate.tryEnter("/b", "two") !== undefined);
  });

  it("keeps a workspace and one inside it apart, whatever their guards", () => {
    const gate = new WorkspaceAdmission();
    const outer = gate.tryEnter("/a", "one");
    assert.equal(gate.tryEnter("/a/b", "one"), undefined);
    assert.ok(gate.tryEnter("/ab", "two") !== undefined);
    outer?.leave();
    assert.ok(gate.tryEnter("/a/b", "one") !== undefined);
    assert.equal(gate.tryEnter("/a", "one"), undefined);
  });

  it("asks those inside to leave, and tells when one of them has", async () => {
    const gate = new WorkspaceAdmission();
    let asked = 0;
    const stays = gate.tryEnter("/a", "one", () => asked++);
    const leaves = gate.tryEnter("/a", "one", () => leaves?.leave());
    assert.ok(stays !== undefined && leaves !== undefined);
    await gate.waitForLeave("/a");
    assert.equal(asked, 1);
    assert.equal(gate.tryEnter("/a", "two"), undefined);
    stays.leave();
    await gate.waitForLeave("/a");
    assert.ok(gate.tryEnter("/a", "two") !== undefined);
  });

  it("ignores a second leave of the same program", () => {
    const gate = new WorkspaceAdmission();
    const first = gate.tryEnter("/a", "one");
    assert.ok(first !== undefined);
    first.leave();
    const second = gate.tryEnter("/a", "two");
    assert.ok(second !== undefined);
    first.leave();
    assert.equal(gate.tryEnter("/a", "three"), undefined);
  });
});
