import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { labelledLines } from "./labelled-lines.ts";
import { type Column, renderFacts, renderTable } from "./table.ts";

interface Row {
  readonly id: string;
  readonly extra: string;
  readonly note: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: "ID", narrow: (row) => row.id.slice(-3), value: (row) => row.id },
  { title: "EXTRA", narrow: "drop", value: (row) => row.extra },
  { title: "NOTE", narrow: "wrap", value: (row) => row.note },
];
const ROWS: readonly Row[] = [
  { id: "identifier-abc", extra: "something more", note: "a note of several words that goes on for a while" },
];

describe("a table that is wider than the terminal", () => {
  it("is whole where the output is no terminal, or wide enough", () => {
    const whole = renderTable(COLUMNS, ROWS);
    assert.equal(whole.length, 2);
    assert.deepEqual(renderTable(COLUMNS, ROWS, 200), whole);
  });

  it("shortens cells, drops columns and breaks text between words until its lines fit", () => {
    for (const width of [20, 30, 40, 60]) {
      const lines = renderTable(COLUMNS, ROWS, width);
      for (const line of lines) assert.ok(line.length <= width, `${width}: ${line}`);
      assert.match(lines.join(" ").replaceAll(/\s+/g, " "), /abc.*a note of several words that goes on for a while/);
    }
    assert.doesNotMatch(renderTable(COLUMNS, ROWS, 30).join("\n"), /EXTRA|identifier/);
  });

  it("breaks a word that is longer than its column", () => {
    const columns = [{ title: "TEXT", narrow: "wrap" as const, value: () => `at ${"x".repeat(30)}` }];
    assert.deepEqual(renderTable(columns, ROWS, 20), ["TEXT", "at", "x".repeat(20), "x".repeat(10)]);
  });

  it("cuts a column that is to stay on one line", () => {
    const columns = [{ title: "TEXT", narrow: "cut" as const, value: (row: Row) => row.note }];
    assert.deepEqual(renderTable(columns, ROWS, 16), ["TEXT", "a note of sever…"]);
    const paths = [{ title: "PATH", narrow: "tail" as const, value: () => "/home/user/projects/shop" }];
    assert.deepEqual(renderTable(paths, ROWS, 16), ["PATH", "…r/projects/shop"]);
  });
});

describe("facts and advice on a terminal", () => {
  it("go on below their beginning, with words and paths whole", () => {
    const path = `/${"directory/".repeat(6)}`;
    assert.deepEqual(renderFacts([["name", `first words ${path} last`]], 30), [
      "name  first words",
      `      ${path}`,
      "      last",
    ]);
    const label = { text: "next:", width: 7, paint: (text: string) => text };
    const lines = labelledLines(label, "run the command again, and then look at it", { errorColumns: 30 });
    assert.deepEqual(lines, ["next:  run the command again,", "       and then look at it"]);
  });
});
