const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$/;
const GROUP = /^[0-9a-f]{1,4}$/;
const GROUPS = 8;

/** Whether a text is four decimal numbers without leading zeros: the only unambiguous spelling of an IPv4 address. */
export function isCanonicalIpv4(text: string): boolean {
  return IPV4.test(text) && !text.endsWith(".");
}

/**
 * Returns the canonical spelling (RFC 5952) of a lower-case IPv6 address in hex groups, or undefined.
 *
 * SECURITY: zones, dotted tails and IPv4-mapped addresses are rejected: each is another name for an address that has a
 * plain one, and rights are compared by name.
 */
export function canonicalIpv6(text: string): string | undefined {
  const groups = parseGroups(text);
  if (groups === undefined || isIpv4Mapped(groups)) return undefined;
  const gap = longestZeroRun(groups);
  const shown = groups.map((group) => group.toString(16));
  if (gap === undefined) return shown.join(":");
  return `${shown.slice(0, gap.start).join(":")}::${shown.slice(gap.start + gap.length).join(":")}`;
}

function parseGroups(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => (half === "" ? [] : half.split(":")));
  if (head === undefined || ![...head, ...(tail ?? [])].every((group) => GROUP.test(group))) return undefined;
  const left = head.map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return left.length === GROUPS ? left : undefined;
  const right = tail.map((group) => Number.parseInt(group, 16));
  const zeros = GROUPS - left.length - right.length;
  return zeros < 1 ? undefined : [...left, ...new Array<number>(zeros).fill(0), ...right];
}

function isIpv4Mapped(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}

/** Finds the first of the longest runs of at least two zero groups. */
function longestZeroRun(groups: readonly number[]): { start: number; length: number } | undefined {
  let longest = { start: 0, length: 1 };
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue;
    if (i - start > longest.length) longest = { start, length: i - start };
    start = i + 1;
  }
  return longest.length > 1 ? longest : undefined;
}
