import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { runsOf } from "../../../../test/sampled.ts";
import type { Capability, HostPattern } from "./capability.ts";
import { contains, coveredByAny, covers, isWithin, missingCapabilities } from "./covers.ts";

const read = (...prefixes: string[]): Capability => ({ kind: "fs_read", prefixes });
const reach = (...hosts: (string | HostPattern)[]): Capability => ({
  kind: "net_read",
  hosts: hosts.map((host) => (typeof host === "string" ? { host } : host)),
});
const publish = (...names: string[]): Capability => ({ kind: "artifact", names });

describe("paths", () => {
  const refused: [held: Capability, asked: Capability, why: string][] = [
    [read("/src"), read("/srcery"), "a string prefix is no path prefix"],
    [read("/src/a"), read("/src"), "a parent lies outside its child"],
    [read("/src"), read("/src/../etc"), "traversal"],
    [read("/src"), read("/src/./x"), "a dot component"],
    [read("/src"), read("/src//x"), "an empty component"],
    [read("/src"), read("/src/"), "a trailing slash"],
    [read("/src"), read("/src/..\\..\\etc"), "traversal by backslash"],
    [read("/src"), read("/src/x\0"), "a NUL"],
    [read("/"), read("src"), "a relative path, even under the root"],
    [read("*"), read(""), "an empty path, even under everything"],
    [read("*"), read("/a/../b"), "traversal, even under everything"],
    [read("/src"), read(`/src/${"x".repeat(9000)}`), "a path longer than any"],
    [{ kind: "fs_write", prefixes: ["/"] }, read("/src"), "another kind"],
    [{ kind: "vault", prefixes: ["/"] }, read("/src"), "another kind with the same scope"],
    [read(), read("/src"), "an empty held scope is nothing"],
  ];
  for (const [held, asked, why] of refused) {
    test(`not covered: ${why}`, () => {
      assert.equal(covers(held, asked), false);
      assert.equal(contains(held, asked), false);
    });
  }

  test("a prefix covers itself and everything below it; the root and * cover everything", () => {
    assert.equal(covers(read("/src"), read("/src")), true);
    assert.equal(covers(read("/src"), read("/src/a/b")), true);
    assert.equal(covers(read("/"), read("/src")), true);
    assert.equal(covers(read("*"), read("/src")), true);
  });
});

describe("hosts", () => {
  const refused: [held: Capability, asked: Capability, why: string][] = [
    [reach("*.example.com"), reach("example.com"), "the apex"],
    [reach("*.example.com"), reach("evilexample.com"), "a string suffix is no domain"],
    [reach("example.com"), reach("example.com.evil.org"), "a longer name"],
    [reach("example.com"), reach("a.example.com"), "a subdomain of an exact host"],
    [reach("*.example.com"), reach("evil.org\0.example.com"), "a NUL"],
    [reach("*"), reach("evil.org\0"), "a NUL, even under everything"],
    [reach("*.example.com"), reach("A.example.com"), "a spelling that was not normalised"],
    [reach("*.example.com"), reach("a.example.com."), "a trailing dot"],
    [reach("*.0.0.1"), reach("127.0.0.1"), "an address by a name pattern"],
    [reach("127.0.0.1"), reach("127.1"), "another spelling of an address"],
    [reach("*"), reach("[::1]"), "an address in brackets"],
    [reach("*.example.com"), reach("*"), "every host"],
    [reach({ host: "a.com", ports: [443] }), reach({ host: "a.com", ports: [80] }), "another port"],
    [reach({ host: "a.com", ports: [443] }), reach("a.com"), "every port"],
    [reach("a.com"), reach({ host: "a.com", ports: [0] }), "a port that does not exist"],
    [reach("a.com"), reach({ host: "a.com", ports: [443.5] }), "a port that is no port"],
    [{ kind: "net_write", hosts: [{ host: "*" }] }, reach("a.com"), "another kind"],
  ];
  for (const [held, asked, why] of refused) {
    test(`not contained: ${why}`, () => assert.equal(contains(held, asked), false));
  }

  test("a wildcard covers subdomains at any depth and narrower wildcards", () => {
    assert.equal(covers(reach("*.example.com"), reach("a.example.com", "a.b.example.com", "*.b.example.com")), true);
    assert.equal(covers(reach("*"), reach("a.com", "127.0.0.1", "::1", "*.b.com")), true);
    assert.equal(covers(reach("a.com"), reach({ host: "a.com", ports: [1, 65_535] })), true);
  });
});

describe("other kinds", () => {
  test("names match exactly, and * matches all", () => {
    assert.equal(covers(publish("report"), publish("reports")), false);
    assert.equal(covers(publish("*"), publish("")), false);
    assert.equal(covers(publish("*"), publish("report")), true);
    assert.equal(covers(publish("report"), publish("report")), true);
  });

  test("a model requires its provider too", () => {
    const held: Capability = { kind: "inference", models: [{ provider: "acme", model: "*" }] };
    assert.equal(covers(held, { kind: "inference", models: [{ provider: "other", model: "m" }] }), false);
    assert.equal(contains(held, { kind: "inference", models: [{ provider: "*", model: "*" }] }), false);
    assert.equal(covers(held, { kind: "inference", models: [{ provider: "acme", model: "m" }] }), true);
  });

  test("wasm needs fuel and memory from one capability", () => {
    const wasm = (maxFuel: number, maxMemoryBytes: number): Capability => ({
      kind: "wasm_exec",
      maxFuel,
      maxMemoryBytes,
    });
    assert.equal(coveredByAny([wasm(10, 1), wasm(1, 10)], wasm(10, 10)), false);
    assert.equal(covers(wasm(10, 10), wasm(Number.NaN, 1)), false);
    assert.equal(covers(wasm(10, 10), wasm(10, 10)), true);
  });

  test("the clock is granted whole or not at all", () => {
    assert.equal(covers(publish("*"), { kind: "clock" }), false);
    assert.equal(covers({ kind: "clock" }, { kind: "clock" }), true);
  });

  test("no capability covers an unknown kind", () => {
    const unknown = JSON.parse('{"kind":"root"}') as Capability;
    assert.equal(covers(unknown, unknown), false);
  });
});

describe("an empty or * scope", () => {
  const empty: Capability[] = [read(), reach(), publish(), { kind: "inference", models: [] }];
  const some: Capability[] = [
    read("/a"),
    reach("a.com"),
    publish("a"),
    { kind: "inference", models: [{ provider: "p", model: "m" }] },
  ];

  test("in a requirement means any capability of the kind, and an empty held scope covers nothing", () => {
    for (const [index, asked] of empty.entries()) {
      assert.equal(coveredByAny(empty, asked), false);
      assert.equal(coveredByAny([], asked), false);
      assert.equal(covers(some[index] ?? asked, asked), true);
    }
    assert.equal(covers(publish("a"), publish("*")), true);
    assert.equal(covers(read("/a"), read("*")), true);
    assert.equal(covers(reach({ host: "a.com", ports: [443] }), reach("*")), true);
    assert.equal(covers(reach({ host: "a.com", ports: [443] }), reach({ host: "*", ports: [80] })), false);
    assert.equal(covers(publish("a"), publish("*", "b")), false);
  });

  test("inside another capability means all of the kind", () => {
    for (const [index, child] of empty.entries()) assert.equal(isWithin([child], [some[index] ?? child]), false);
    assert.equal(isWithin([publish("*")], [publish("a")]), false);
    assert.equal(isWithin([publish("*"), publish()], [publish("*")]), true);
    assert.equal(isWithin([read("*"), read()], [read("/")]), true);
    assert.equal(isWithin([], []), true);
  });

  test("rejects an argument named * as a requirement", () => {
    const held = [publish("report")];
    const required = [publish()];
    assert.deepEqual(missingCapabilities(held, { required, needed: [publish("*")] }), [publish("*")]);
    assert.deepEqual(missingCapabilities(held, { required, needed: [publish("report")] }), []);
    assert.deepEqual(missingCapabilities([], { required, needed: [] }), required);
  });
});

test("several capabilities together can cover a requirement that none covers alone", () => {
  assert.equal(coveredByAny([read("/a"), read("/b")], read("/a/x", "/b")), true);
  assert.equal(coveredByAny([read("/a"), read("/b")], read("/a/x", "/c")), false);
  const ports = [reach({ host: "*.a.com", ports: [80] }), reach({ host: "x.a.com", ports: [443] })];
  assert.equal(coveredByAny(ports, reach({ host: "x.a.com", ports: [80, 443] })), true);
  assert.equal(coveredByAny(ports, reach({ host: "y.a.com", ports: [80, 443] })), false);
});

/**
 * The model: a small world of single accesses, each allowed or not by looking at components and labels. It has names
 * (`zz`, port 9) that no generated right mentions, so a right that misses anything misses something here.
 */
type Access =
  | { readonly kind: "fs_read"; readonly path: readonly string[] }
  | { readonly kind: "net_read"; readonly labels: readonly string[]; readonly port: number }
  | { readonly kind: "artifact"; readonly name: string };

const WORDS = ["a", "b", "ab"];
const WORLD: readonly Access[] = [
  ...sequences([...WORDS, "zz"], 3).map((path): Access => ({ kind: "fs_read", path })),
  ...sequences([...WORDS, "zz"], 3)
    .filter((labels) => labels.length > 0)
    .flatMap((labels) => [80, 443, 9].map((port): Access => ({ kind: "net_read", labels, port }))),
  ...[...WORDS, "zz"].map((name): Access => ({ kind: "artifact", name })),
];

function sequences(words: readonly string[], longest: number): string[][] {
  if (longest === 0) return [[]];
  const shorter = sequences(words, longest - 1);
  const added = shorter.filter((sequence) => sequence.length === longest - 1);
  return [...shorter, ...added.flatMap((sequence) => words.map((word) => [...sequence, word]))];
}

function allows(right: Capability, access: Access): boolean {
  if (right.kind === "fs_read" && access.kind === "fs_read") {
    return right.prefixes.some((prefix) => {
      const components = prefix === "*" ? [] : prefix.split("/").filter((component) => component !== "");
      return components.every((component, index) => access.path[index] === component);
    });
  }
  if (right.kind === "net_read" && access.kind === "net_read") {
    return right.hosts.some(
      ({ host, ports }) => hasHost(host, access.labels) && (ports?.includes(access.port) ?? true),
    );
  }
  if (right.kind === "artifact" && access.kind === "artifact") {
    return right.names.some((name) => name === "*" || name === access.name);
  }
  return false;
}

function hasHost(pattern: string, labels: readonly string[]): boolean {
  if (pattern === "*") return true;
  const wanted = pattern.split(".").toReversed();
  const given = labels.toReversed();
  if (wanted.at(-1) !== "*") return wanted.length === given.length && wanted.every((label, i) => label === given[i]);
  const fixed = wanted.slice(0, -1);
  return given.length > fixed.length && fixed.every((label, i) => label === given[i]);
}

const word = fc.constantFrom(...WORDS);
const pathArbitrary = fc.oneof(
  { weight: 1, arbitrary: fc.constant("*") },
  { weight: 6, arbitrary: fc.array(word, { maxLength: 2 }).map((components) => `/${components.join("/")}`) },
);
const nameArbitrary = fc.array(word, { minLength: 1, maxLength: 2 }).map((labels) => labels.join("."));
const hostArbitrary: fc.Arbitrary<HostPattern> = fc
  .record({
    host: fc.oneof(
      fc.constant("*"),
      nameArbitrary,
      nameArbitrary.map((name) => `*.${name}`),
    ),
    ports: fc.option(fc.uniqueArray(fc.constantFrom(80, 443), { minLength: 1 }), { nil: undefined }),
  })
  .map(({ host, ports }) => (ports === undefined ? { host } : { host, ports }));
const rightArbitrary: fc.Arbitrary<Capability> = fc.oneof(
  fc.record({
    kind: fc.constant("fs_read" as const),
    prefixes: fc.array(pathArbitrary, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant("net_read" as const), hosts: fc.array(hostArbitrary, { minLength: 1, maxLength: 3 }) }),
  fc.record({
    kind: fc.constant("artifact" as const),
    names: fc.array(fc.oneof(word, fc.constant("*")), { minLength: 1, maxLength: 3 }),
  }),
);
const rightsArbitrary = fc.array(rightArbitrary, { maxLength: 4 });

function isConcrete(right: Capability): boolean {
  if ("prefixes" in right) return !right.prefixes.includes("*");
  if ("hosts" in right) return right.hosts.every(({ host }) => host !== "*");
  return !("names" in right) || !right.names.includes("*");
}

describe("against the model", () => {
  test("capabilities are contained exactly if each of their accesses is", () => {
    fc.assert(
      fc.property(rightsArbitrary, rightsArbitrary, (child, parent) => {
        const reachable = WORLD.filter((access) => child.some((right) => allows(right, access)));
        const isInside = reachable.every((access) => parent.some((right) => allows(right, access)));
        assert.equal(isWithin(child, parent), isInside);
      }),
      { numRuns: runsOf(2000) },
    );
  });

  test("reads a requirement without * like any capability", () => {
    fc.assert(
      fc.property(rightsArbitrary, rightArbitrary.filter(isConcrete), (held, asked) => {
        assert.equal(coveredByAny(held, asked), isWithin([asked], held));
      }),
      { numRuns: runsOf(1000) },
    );
  });

  test("every capability covers itself", () => {
    fc.assert(
      fc.property(rightArbitrary, (right) => {
        assert.equal(covers(right, right), true);
        assert.equal(contains(right, right), true);
      }),
    );
  });

  test("containment is transitive", () => {
    fc.assert(
      fc.property(rightArbitrary, rightArbitrary, rightArbitrary, (outer, middle, inner) => {
        if (contains(outer, middle) && contains(middle, inner)) assert.equal(contains(outer, inner), true);
        if (isConcrete(middle) && covers(outer, middle) && covers(middle, inner)) {
          assert.equal(covers(outer, inner), true);
        }
      }),
      { numRuns: runsOf(5000) },
    );
  });
});
