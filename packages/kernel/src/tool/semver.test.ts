import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compareSemver, isRelease, parseSemver, type Semver } from "./semver.ts";

function version(text: string): Semver {
  const parsed = parseSemver(text);
  assert.ok(parsed !== undefined, text);
  return parsed;
}

describe("semver", () => {
  it("rejects everything that is not exactly a version", () => {
    const refused = [
      "",
      "1",
      "1.0",
      "v1.0.0",
      "1.0.0.0",
      "01.0.0",
      "1.00.0",
      "1.0.0-",
      "1.0.0-01",
      "1.0.0-a..b",
      "1.0.0+",
    ];
    refused.push(
      " 1.0.0",
      "1.0.0\n",
      "1.0.0-ä",
      "１.0.0",
      "-1.0.0",
      "1e1.0.0",
      "9007199254740992.0.0",
      "1.0.0-9007199254740992",
    );
    refused.push(`1.0.0-${"a".repeat(300)}`, "latest", "^1.0.0", "*");
    for (const text of refused) assert.equal(parseSemver(text), undefined, JSON.stringify(text));
  });

  it("parses versions into their parts", () => {
    assert.deepEqual(parseSemver("1.2.3-rc.1.x-y+build.5"), {
      major: 1,
      minor: 2,
      patch: 3,
      prerelease: ["rc", 1, "x-y"],
      build: ["build", "5"],
    });
    assert.equal(isRelease(version("1.0.0+a")), true);
    assert.equal(isRelease(version("1.0.0-a")), false);
  });

  it("orders them as the standard does", () => {
    const ascending = ["0.0.1", "0.2.0", "1.0.0-1", "1.0.0-9", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1"];
    ascending.push(
      "1.0.0-alpha.beta",
      "1.0.0-beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
      "1.9.0",
      "1.10.0",
      "2.0.0",
    );
    for (const [index, text] of ascending.entries()) {
      for (const [other, right] of ascending.entries()) {
        const order = Math.sign(compareSemver(version(text), version(right)));
        assert.equal(order, Math.sign(index - other), `${text} and ${right}`);
      }
    }
    assert.equal(compareSemver(version("1.0.0+a"), version("1.0.0+b")), 0);
  });
});
