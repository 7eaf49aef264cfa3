import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createProgressBar } from "./progress-bar.ts";
import { createTerminal, type Terminal } from "./terminal.ts";

function openTerminal(options: { json?: boolean; tty?: boolean } = {}): {
  terminal: Terminal;
  output: string[];
  error: string[];
} {
  const output: string[] = [];
  const error: string[] = [];
  const collect = (into: string[]) => ({
    isTTY: options.tty ?? false,
    write(chunk: string | Uint8Array, done?: (failure?: Error | null) => void) {
      into.push(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("latin1"));
      done?.();
      return true;
    },
  });
  const streams = { output: collect(output), error: collect(error), environment: {} };
  return { terminal: createTerminal(streams, { json: options.json ?? false }), output, error };
}

describe("createTerminal", () => {
  it("escapes hidden characters in JSON and keeps its value", () => {
    const { terminal, output } = openTerminal({ json: true });
    terminal.printJson({ name: "a\u202eb" });
    assert.deepEqual(output, ['{"name":"a\\u202eb"}\n']);
  });

  it("indents JSON for a terminal only, and never in lines", () => {
    const { terminal, output } = openTerminal({ json: true, tty: true });
    terminal.printJson({ a: 1 });
    terminal.printJsonLine({ a: 1 });
    assert.deepEqual(output, ['{\n  "a": 1\n}\n', '{"a":1}\n']);
  });

  it("keeps notes off the output stream", () => {
    const { terminal, output, error } = openTerminal();
    terminal.note("working");
    terminal.print("answer");
    terminal.print();
    assert.deepEqual(output, ["answer\n"]);
    assert.deepEqual(error, ["working\n"]);
  });

  it("passes bytes through unchanged", async () => {
    const { terminal, output } = openTerminal();
    await terminal.writeBytes(Uint8Array.of(0, 255, 10));
    assert.deepEqual(output, ["\u0000\u00ff\n"]);
  });
});

describe("createProgressBar", () => {
  it("stays silent within the first second and without a terminal", () => {
    let now = 0;
    const quiet = openTerminal({ tty: true });
    const bar = createProgressBar(quiet.terminal, { label: "records", nowMs: () => now });
    now = 999;
    bar.update(1, 2);
    bar.finish();
    assert.deepEqual(quiet.error, []);

    const piped = openTerminal();
    const other = createProgressBar(piped.terminal, { label: "records", nowMs: () => now });
    now = 5000;
    other.update(1, 2);
    other.finish();
    assert.deepEqual(piped.error, []);
  });

  it("shows share, counts and time left, redraws rarely, and cleans up after itself", () => {
    let now = 0;
    const { terminal, error } = openTerminal({ tty: true });
    const bar = createProgressBar(terminal, { label: "records", nowMs: () => now });
    now = 2000;
    bar.update(5000, 10_000);
    now = 2010;
    bar.update(5100, 10_000);
    bar.finish();
    assert.equal(error.length, 2);
    assert.match(error[0] ?? "", /50% {2}5,000 of 10,000 records, 2 s left$/);
    assert.equal(error[1], "\r\u001b[2K");
  });
});
