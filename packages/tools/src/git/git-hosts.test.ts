import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gitHosts, gitRights, hostOf } from "./git-hosts.ts";

describe("the host of an address", () => {
  const hosts: readonly (readonly [address: string, host: string, port: number])[] = [
    ["https://forge.example/a.git", "forge.example", 443],
    ["https://agent@forge.example/a.git", "forge.example", 443],
    ["HTTPS://Forge.Example:8443/a.git", "forge.example", 8443],
    ["http://forge.example/a.git", "forge.example", 80],
    ["http://[::1]:8080/a.git", "::1", 8080],
    ["ssh://git@forge.example:22/a.git", "forge.example", 443],
    ["git@forge.example:org/a.git", "forge.example", 443],
  ];
  for (const [address, host, port] of hosts) {
    it(`${address} is ${host}:${port}`, () => assert.deepEqual(hostOf(address), { host, ports: [port] }));
  }

  const none = [
    "https://*/a.git",
    "https://*.example.com/a.git",
    "git@*:a",
    "https://forge.example:99999/a.git",
    "https://forge.example:0/a.git",
    "https://forge.example./a.git",
    "https://0x7f.1/a.git",
    "https://evil.test\\@forge.example/a.git",
    "origin",
    "../other",
    "file:///srv/a.git",
    "git://forge.example/a.git",
  ];
  for (const address of none) it(`${address} has none`, () => assert.equal(hostOf(address), undefined));
});

describe("the rights of an operation", () => {
  it("are those of the hosts in its addresses and of those that were named", () => {
    const args = ["https://forge.example/a.git", "work"];
    assert.deepEqual(gitRights({ operation: "CLONE", args }), [
      { kind: "net_read", hosts: [{ host: "forge.example", ports: [443] }] },
    ]);
    assert.deepEqual(gitRights({ operation: "PUSH", args: ["origin"], hosts: ["forge.example:8443"] }), [
      { kind: "net_write", hosts: [{ host: "forge.example", ports: [8443] }] },
    ]);
  });

  it("are empty for operations that use no network", () => {
    assert.deepEqual(
      gitHosts({ operation: "LOG", args: ["https://forge.example/a.git"], hosts: ["forge.example"] }),
      [],
    );
    assert.deepEqual(gitRights({ operation: "FETCH", args: ["origin"] }), []);
  });
});
