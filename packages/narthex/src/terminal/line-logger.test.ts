import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLineLogger } from "./line-logger.ts";
import { createTerminal } from "./terminal.ts";

function collectLog(options: { json: boolean; debug?: boolean }) {
  const lines: string[] = [];
  const stream = {
    write(chunk: string | Uint8Array) {
      lines.push(String(chunk));
      return true;
    },
  };
  const terminal = createTerminal({ output: stream, error: stream, environment: {} }, options);
  return { log: createLineLogger(terminal, options.debug === true ? { NARTHEX_DEBUG: "1" } : {}), lines };
}

describe("createLineLog", () => {
  it("keeps every message on one line with nothing hidden", () => {
    const { log, lines } = collectLog({ json: false });
    log("warn", "a\nb", { who: "\u001b[1mme", error: new Error("broken\r\n") });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /^\S+ warn {2}a\\nb who=\\u001b\[1mme error=broken\\r\\n\n$/);
  });

  it("writes JSON for programs", () => {
    const { log, lines } = collectLog({ json: true });
    log("info", "open", { port: 1 });
    assert.match(lines[0] ?? "", /^\{"time":"\d{4}-[^"]*","level":"info","message":"open","port":"1"\}\n$/);
  });

  it("omits debug lines unless they are requested", () => {
    const quiet = collectLog({ json: false });
    quiet.log("debug", "x");
    assert.deepEqual(quiet.lines, []);
    const loud = collectLog({ json: false, debug: true });
    loud.log("debug", "x");
    assert.equal(loud.lines.length, 1);
  });
});
