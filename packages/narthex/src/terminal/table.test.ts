import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { renderFacts, renderTable } from "./table.ts";

describe("renderTable", () => {
  it("makes hidden characters in cells visible", () => {
    const lines = renderTable([{ title: "NAME", value: (row: string) => row }], ["a\u001b[1m\nb"]);
    assert.deepEqual(lines, ["NAME", "a\\u001b[1m\\nb"]);
  });

  it("pads columns to the widest cell and aligns numbers right", () => {
    const lines = renderTable<readonly [string, string]>(
      [
        { title: "TOOL", value: (row) => row[0] },
        { title: "MS", align: "right", value: (row) => row[1] },
        { title: "NOTE", value: () => "x" },
      ],
      [
        ["echo", "1"],
        ["result_read", "1234"],
      ],
    );
    assert.deepEqual(lines, ["TOOL           MS  NOTE", "echo            1  x", "result_read  1234  x"]);
  });

  it("gives the heading alone where there is nothing", () => {
    assert.deepEqual(renderTable([{ title: "A", value: () => "" }], []), ["A"]);
  });
});

describe("renderFacts", () => {
  it("lines up values", () => {
    assert.deepEqual(
      renderFacts([
        ["id", "x"],
        ["workspace", "/w"],
      ]),
      ["id         x", "workspace  /w"],
    );
  });
});
