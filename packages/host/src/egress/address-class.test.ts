import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AddressClass } from "@narthex/kernel";
import * as fc from "fast-check";
import ipaddr from "ipaddr.js";
import { runsOf } from "../../../../test/sampled.ts";
import { addressBytes, classifyAddress } from "./address-class.ts";

const classOf = (address: string): AddressClass => classifyAddress(addressBytes(address));

const CASES: Readonly<Record<AddressClass, readonly string[]>> = {
  loopback: [
    "127.0.0.1",
    "127.255.255.254",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:0:1:2:3:4:80ff:fffe",
    "2001:db8::5efe:127.0.0.1",
    "fe80::200:5efe:7f00:1",
    "::ffff:0:127.0.0.1",
  ],
  unspecified: ["0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"],
  private: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fc00::1", "fdff::1", "fec0::1"],
  link_local: ["169.254.0.1", "fe80::1", "fe80::1%eth0", "febf::1"],
  metadata: [
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fd00:ec2::254",
  ],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1"],
  reserved: ["255.255.255.255", "240.0.0.1", "192.0.2.1", "2001:db8::1", "4000::1", "100::1", "2001:10::1"],
  own: [],
  public: [
    "1.1.1.1",
    "172.32.0.1",
    "172.15.255.255",
    "100.128.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "2002:808:808::",
  ],
};

describe("the class of an address", () => {
  for (const [kind, addresses] of Object.entries(CASES)) {
    for (const address of addresses) it(`of ${address} is ${kind}`, () => assert.equal(classOf(address), kind));
  }

  it("is never public where another table says that it is not", () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(fc.array(byte, { minLength: 4, maxLength: 4 }), (bytes) => {
        const address = ipaddr.fromByteArray(bytes);
        if (classifyAddress(addressBytes(address.toString())) === "public") assert.equal(address.range(), "unicast");
      }),
      { numRuns: runsOf(2000) },
    );
    fc.assert(
      fc.property(fc.array(byte, { minLength: 16, maxLength: 16 }), (bytes) => {
        const address = ipaddr.fromByteArray(bytes);
        if (classifyAddress(Uint8Array.from(bytes)) === "public") {
          assert.ok(["unicast", "6to4", "teredo"].includes(address.range()), address.toString());
        }
      }),
      { numRuns: runsOf(2000) },
    );
  });

  it("of an address in another is that of the one inside", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 }), (bytes) => {
        const [a = 0, b = 0, c = 0, d = 0] = bytes;
        const groups = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const inside = classOf(bytes.join("."));
        for (const outer of [`::ffff:${groups}`, `64:ff9b::${groups}`, `2002:${groups}::`, `::ffff:0:${groups}`]) {
          assert.equal(classOf(outer), inside, outer);
        }
      }),
    );
  });
});
