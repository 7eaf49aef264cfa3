import type { Capability, HostPattern, Lease } from "@narthex/kernel";
import type { Chance } from "../chance/chance.ts";

const WORDS = ["a", "b", "ab", "ba"];
const ODD_PATHS = ["/a/../b", "/a/", "a", "", "//a", "/a/./b", "/a\\..\\b", "/a\0", "/.."];
const ODD_HOSTS = ["A.b", "a.b.", ".a", "a..b", "a\0.b", "", "*.", "**.a", "a.*", "\u212a.a"];
const NAME_KINDS = ["db_read", "db_write", "exec", "git", "artifact", "env_read", "mcp"] as const;
const TIERS = ["read_only", "side_effecting", "privileged"] as const;

/** Few words, so that rights meet. Odd spellings stand only where `odd` says so: no lease ever holds one. */
export function anyRight(chance: Chance, { odd }: { readonly odd: boolean }): Capability {
  const isOdd = (): boolean => odd && chance.oneIn(12);
  const many = <T>(make: () => T): T[] => chance.several(3, make, odd && chance.oneIn(10) ? 0 : 1);
  switch (chance.below(7)) {
    case 0:
    case 1:
      return {
        kind: chance.pick(["fs_read", "fs_write", "vault"] as const),
        prefixes: many(() => (isOdd() ? chance.pick(ODD_PATHS) : anyPath(chance))),
      };
    case 2:
    case 3:
      return {
        kind: chance.pick(["net_read", "net_write"] as const),
        hosts: many(() => anyHost(chance, isOdd() ? chance.pick(ODD_HOSTS) : undefined)),
      };
    case 4:
      return { kind: chance.pick(NAME_KINDS), names: many(() => (isOdd() ? "" : anyName(chance))) };
    case 5:
      return {
        kind: "inference",
        models: many(() => ({ provider: anyName(chance), model: isOdd() ? "" : anyName(chance) })),
      };
    default:
      if (chance.oneIn(4)) return { kind: "clock" };
      return { kind: "wasm_exec", maxFuel: chance.below(3), maxMemoryBytes: chance.below(3) };
  }
}

export function anyRights(chance: Chance, options: { readonly odd: boolean }): Capability[] {
  return chance.several(5, () => anyRight(chance, options));
}

/** A right made of another by narrowing its parts, and now and then widening one: close to the border. */
export function nearbyRight(chance: Chance, right: Capability): Capability {
  const some = <T>(parts: readonly T[]): T[] => {
    const kept = parts.filter(() => chance.oneIn(2));
    return kept.length > 0 || parts.length === 0 ? kept : [chance.pick(parts)];
  };
  if ("prefixes" in right) return { ...right, prefixes: some(right.prefixes).map((path) => nearbyPath(chance, path)) };
  if ("hosts" in right) return { ...right, hosts: some(right.hosts).map((host) => nearbyHost(chance, host)) };
  if ("names" in right) return { ...right, names: some(right.names).map((name) => nearbyName(chance, name)) };
  if ("models" in right) {
    const models = some(right.models).map(({ provider, model }) => ({
      provider: nearbyName(chance, provider),
      model: nearbyName(chance, model),
    }));
    return { ...right, models };
  }
  if ("maxFuel" in right) return { ...right, maxFuel: chance.below(right.maxFuel + 2) };
  return right;
}

/** A lease; with one above it, mostly inside that one in each of its dimensions. */
export function anyLease(chance: Chance, above?: Lease): Lease {
  const isNew = above === undefined;
  const rights = () => ({
    toolPatterns: derive(chance, above?.delegable.toolPatterns, () => chance.several(3, () => anyPattern(chance))),
    capabilities: derive(chance, above?.delegable.capabilities, () => anyRights(chance, { odd: false })).map((right) =>
      isNew ? right : nearbyRight(chance, right),
    ),
    highestTier: isNew || chance.oneIn(8) ? chance.pick(TIERS) : above.delegable.highestTier,
  });
  const limit = (most: number | undefined): number | undefined => {
    if (isNew || chance.oneIn(8)) return chance.oneIn(3) ? undefined : chance.below(4);
    return most === undefined ? undefined : chance.below(most + 1);
  };
  const [calls, wall] = [limit(above?.budgets.calls), limit(above?.budgets.wall_ms)];
  return {
    id: "lea_x",
    parentId: undefined,
    holder: "ses_x",
    ...rights(),
    budgets: { ...(calls !== undefined && { calls }), ...(wall !== undefined && { wall_ms: wall }) },
    notBeforeMs: isNew || chance.oneIn(8) ? chance.below(3) : above.notBeforeMs + chance.below(2),
    expiresAtMs: isNew || chance.oneIn(8) ? 2 + chance.below(3) : above.expiresAtMs - chance.below(2),
    delegable: rights(),
    revoked: false,
  };
}

/** Some of what is there already, or something new. */
function derive<T>(chance: Chance, from: readonly T[] | undefined, make: () => T[]): T[] {
  if (from === undefined || chance.oneIn(8)) return make();
  return from.filter(() => chance.oneIn(2));
}

function nearbyPath(chance: Chance, path: string): string {
  if (chance.oneIn(8)) return anyPath(chance);
  const word = chance.pick(WORDS);
  return chance.oneIn(2) ? path : path === "/" || path === "*" ? `/${word}` : `${path}/${word}`;
}

function nearbyName(chance: Chance, name: string): string {
  return chance.oneIn(8) || (name === "*" && chance.oneIn(2)) ? anyName(chance) : name;
}

function nearbyHost(chance: Chance, { host, ports }: HostPattern): HostPattern {
  const word = chance.pick(WORDS);
  const inner =
    host === "*"
      ? word
      : host.startsWith("*.")
        ? chance.pick([`${word}.${host.slice(2)}`, `*.${word}.${host.slice(2)}`])
        : host;
  const chosen = chance.oneIn(8) ? anyHost(chance, undefined).host : chance.oneIn(2) ? host : inner;
  if (chance.oneIn(8)) return { host: chosen };
  return { host: chosen, ports: [chance.pick(ports ?? [80, 443])] };
}

function anyPath(chance: Chance): string {
  if (chance.oneIn(10)) return "*";
  return `/${chance.several(3, () => chance.pick(WORDS)).join("/")}`;
}

function anyName(chance: Chance): string {
  return chance.oneIn(6) ? "*" : chance.pick(WORDS);
}

function anyHost(chance: Chance, given: string | undefined): HostPattern {
  const name = chance.several(3, () => chance.pick(WORDS), 1).join(".");
  const host = given ?? chance.pick(["*", name, name, `*.${name}`, `*.${name}`]);
  return chance.oneIn(2) ? { host } : { host, ports: chance.several(2, () => chance.pick([80, 443, 8080]), 1) };
}

function anyPattern(chance: Chance): string {
  if (chance.oneIn(12)) return "*";
  const name = chance.several(2, () => chance.pick(["a", "b", "ab", "a_", "a__", "a__b"]), 1).join("");
  return chance.oneIn(2) ? `${name}*` : name;
}
