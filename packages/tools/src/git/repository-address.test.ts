import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { cloneRequest } from "./clone-request.ts";
import { gitArguments } from "./git-arguments.ts";
import { repositoryAddress } from "./repository-address.ts";

const base = { directory: "/workspace/repository", workspace: "/home/ann/project" };
const PROTOCOLS = { protocols: ["https", "ssh", "file"] };

describe("an address", () => {
  it("of another machine is remote", () => {
    for (const address of ["https://example.org/x", "SSH://h/x", "git://h/x", "h:x", "ann@h:/x", "a:b/c"]) {
      assert.deepEqual(repositoryAddress(address, base), { kind: "remote" }, address);
    }
  });

  it("outside of the workspace is so by any spelling", () => {
    for (const address of [
      "/etc",
      "../../x",
      "../../workspaces/x",
      "/workspace/../etc",
      "/home/ann/projects",
      "/home/ann/project/../x",
      "file:///etc",
      "file:///workspace/%2e%2e/etc",
      "file://host/x",
      "file:///%zz",
      "file://",
      "",
    ]) {
      assert.deepEqual(repositoryAddress(address, base), { kind: "outside" }, address);
    }
  });

  it("in the workspace is a path inside", () => {
    for (const [address, path] of [
      ["../other", "/workspace/repository/../other"],
      ["/workspace/other", "/workspace/other"],
      ["/home/ann/project/other", "/workspace/other"],
      ["/home/ann/project", "/workspace"],
      ["file:///home/ann/project/a%20b", "/workspace/a b"],
      ["./a:b", "/workspace/repository/./a:b"],
    ] as const) {
      assert.deepEqual(repositoryAddress(address, base), { kind: "inside", path }, address);
    }
  });
});

describe("the directory of a clone", () => {
  const target = (...args: string[]): string => {
    const checked = gitArguments({ operation: "CLONE", args }, PROTOCOLS);
    assert.ok("argv" in checked);
    try {
      const request = cloneRequest(checked);
      assert.equal(request.argv.at(-1), args.length > 1 && !args.includes("--bare") ? args.at(-1) : request.target);
      return request.target;
    } catch (fault) {
      return isKernelError(fault) ? fault.code : "fault";
    }
  };

  it("is the address's last part if none is named", () => {
    assert.equal(target("https://example.org/a/b.git"), "b");
    assert.equal(target("git@example.org:b.git/"), "b");
    assert.equal(target("../x/.git"), "x");
    assert.equal(target("--bare", "../x"), "x.git");
    assert.equal(target("../x", "deep/./y/"), "deep/y");
  });

  it("never leads out of where the clone is made", () => {
    for (const name of ["/etc/x", "../x", "a/../../x", "a\nb"])
      assert.equal(target("../x", name), "INVALID_INPUT", name);
    for (const address of ["..", "."]) assert.equal(target(address), "INVALID_INPUT", address);
    const checked = gitArguments({ operation: "CLONE", args: ["--", "../x", "-x"] }, PROTOCOLS);
    assert.ok("violations" in checked);
    assert.equal(target("a", "b", "c"), "INVALID_INPUT");
  });
});
