import type { AddressClass } from "@narthex/kernel";
import ipaddr from "ipaddr.js";

/**
 * Parses an address into sixteen bytes: an IPv4 address occupies the last four, after `::ffff`. Throws for an invalid
 * address.
 */
export function addressBytes(address: string): Uint8Array {
  const parsed = ipaddr.parse(address);
  const ipv6 = parsed instanceof ipaddr.IPv4 ? parsed.toIPv4MappedAddress() : parsed;
  return Uint8Array.from(ipv6.toByteArray());
}

/**
 * Classifies an address by its bytes.
 *
 * SECURITY: an address that embeds another one (mapped, translated, tunnelled) has the class of the embedded address,
 * because a router may forward it there. Anything not known to be public is not public.
 */
export function classifyAddress(bytes: Uint8Array): AddressClass {
  if (matches(bytes, UNSPECIFIED)) return "unspecified";
  if (matches(bytes, LOOPBACK)) return "loopback";
  const carried = carriedBy(bytes);
  if (carried !== undefined) return classifyIpv4(carried);
  for (const [kind, prefix] of IPV6) if (matches(bytes, prefix)) return kind;
  return matches(bytes, GLOBAL) ? "public" : "reserved";
}

/** Returns the embedded address as sixteen bytes, or the same address if it embeds none. */
export function innermostAddress(bytes: Uint8Array): Uint8Array {
  const carried = carriedBy(bytes);
  return carried === undefined ? bytes : Uint8Array.from([...MAPPED.bytes.subarray(0, 12), ...carried]);
}

function carriedBy(bytes: Uint8Array): Uint8Array | undefined {
  for (const [prefix, at, flip] of CARRIERS) {
    if (matches(bytes, prefix)) return bytes.subarray(at, at + 4).map((byte) => byte ^ flip);
  }
  return isIsatap(bytes) ? bytes.subarray(12) : undefined;
}

function classifyIpv4(bytes: Uint8Array): AddressClass {
  for (const [kind, prefix] of IPV4) if (matches(bytes, prefix)) return kind;
  return "public";
}

interface Prefix {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

function matches(address: Uint8Array, { bytes, bits }: Prefix): boolean {
  for (let i = 0; i * 8 < bits; i++) {
    const mask = 0xff << Math.max(0, 8 - (bits - i * 8));
    if ((((address[i] ?? 0) ^ (bytes[i] ?? 0)) & mask & 0xff) !== 0) return false;
  }
  return true;
}

function prefix(text: string): Prefix {
  const [range, bits] = ipaddr.parseCIDR(text);
  return { bytes: Uint8Array.from(range.toByteArray()), bits };
}

/** Recognizes the interface identifier of an ISATAP address, on any network. */
function isIsatap(bytes: Uint8Array): boolean {
  return ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

const UNSPECIFIED = prefix("::/128");
const LOOPBACK = prefix("::1/128");
const GLOBAL = prefix("2000::/3");
const MAPPED = prefix("::ffff:0:0/96");

/** Offset of the embedded IPv4 address for each prefix, and the value its bytes are XORed with. */
const CARRIERS: readonly (readonly [prefix: Prefix, at: number, flip: number])[] = [
  [MAPPED, 12, 0],
  [prefix("::ffff:0:0:0/96"), 12, 0],
  [prefix("::/96"), 12, 0],
  [prefix("64:ff9b::/96"), 12, 0],
  [prefix("2002::/16"), 2, 0],
  [prefix("2001::/32"), 12, 0xff],
];

const IPV6: readonly (readonly [AddressClass, Prefix])[] = [
  ["metadata", prefix("fd00:ec2::254/128")],
  ["metadata", prefix("fd20:ce::254/128")],
  ["link_local", prefix("fe80::/10")],
  ["private", prefix("fec0::/10")],
  ["private", prefix("fc00::/7")],
  ["private", prefix("64:ff9b:1::/48")],
  ["multicast", prefix("ff00::/8")],
  ["reserved", prefix("2001::/23")],
  ["reserved", prefix("2001:db8::/32")],
  ["reserved", prefix("3fff::/20")],
];

const IPV4: readonly (readonly [AddressClass, Prefix])[] = [
  ["metadata", prefix("169.254.169.254/32")],
  ["metadata", prefix("169.254.170.2/32")],
  ["metadata", prefix("100.100.100.200/32")],
  ["metadata", prefix("168.63.129.16/32")],
  ["metadata", prefix("192.0.0.192/32")],
  ["unspecified", prefix("0.0.0.0/8")],
  ["private", prefix("10.0.0.0/8")],
  ["private", prefix("100.64.0.0/10")],
  ["loopback", prefix("127.0.0.0/8")],
  ["link_local", prefix("169.254.0.0/16")],
  ["private", prefix("172.16.0.0/12")],
  ["reserved", prefix("192.0.0.0/24")],
  ["reserved", prefix("192.0.2.0/24")],
  ["reserved", prefix("192.88.99.0/24")],
  ["private", prefix("192.168.0.0/16")],
  ["private", prefix("198.18.0.0/15")],
  ["reserved", prefix("198.51.100.0/24")],
  ["reserved", prefix("203.0.113.0/24")],
  ["multicast", prefix("224.0.0.0/4")],
  ["reserved", prefix("240.0.0.0/4")],
];
