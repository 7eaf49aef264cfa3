import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";
import { LAST_LINE } from "../project.ts";

/** Maximum size of the view, and of what clients add around it. */
const MAX_VIEW_BYTES = 16 * 1024;
const MAX_WRAPPING_BYTES = 100;
/** The last line of the view, optionally followed by a client's closing tag. */
const LAST = /\[output truncated — original size: [\d,]+ bytes\]\s*(?:<\/\w+>)?\s*$/;

export const longOutput: Check = {
  name: "long-output",
  title: "of 3 MB the model sees the start and the end, and can read the rest",
  async run(site) {
    await using run = await site.start([
      { call: "shell_exec", input: { command: "cat docs/big.txt" } },
      ({ results }) => {
        const hash = /[0-9a-f]{64}/.exec(results[0]?.text ?? "")?.[0];
        return hash === undefined
          ? { say: "No hash to read on with." }
          : { call: "result_read", input: { hash, offset: 1_000_000, limit: 4000 } };
      },
    ]);
    const { results } = await run.end();
    const [view = "", rest] = results;
    expect(view.includes("line 1 of"), `the model does not see the start: ${excerpt(view)}`);
    expect(view.includes(LAST_LINE), `the model does not see the end: …${excerpt(view.slice(-300), 300)}`);
    expect(LAST.test(view), `it does not end with the size of what was cut: …${excerpt(view.slice(-300), 300)}`);
    const bytes = Buffer.byteLength(view);
    expect(bytes <= MAX_VIEW_BYTES + MAX_WRAPPING_BYTES, `the model is sent ${bytes} bytes`);
    expect(rest !== undefined, "the model is told no hash to read on with");
    // The requested page, not the beginning again.
    expect(/line 21\d{3} of a file/.test(rest), `result_read: ${excerpt(rest)}`);
    expect(!/too long to show\\n/.test(rest), "result_read shows escaped text");
    return `${(bytes / 1024).toFixed(1)} KB`;
  },
};
