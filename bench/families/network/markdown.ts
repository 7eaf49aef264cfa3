import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Defuddle } from "defuddle/node";
import { createPageReader } from "../../../packages/host/src/pages/create-page-reader.ts";
import { openContainment } from "../../../packages/host/src/sandbox/open-containment.ts";
import { interleave } from "../../harness/interleave.ts";
import { type Measurement, NotMeasured } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";

const COUNT = 12;
const PAGE_BYTES = 54 * 1024;
const LONG_PAGE_BYTES = 512 * 1024;
/** A page that takes longer is given up. */
const MAX_PAGE_MS = 2000;
/** As the reader asks it, but for the converter. */
const OPTIONS = { markdown: true, useAsync: false, removeContentPatterns: false };
const URL_OF_PAGE = "https://example.com/docs/page";

/** The main content of a page as Markdown, in a sandboxed worker, beside the library with its own converter in this process. */
export const markdown: Measurement = async ({ rounds, scale, directory }) => {
  await chmod(directory, 0o755);
  await mkdir(join(directory, "sandbox"));
  const containment = await openContainment({ directory: join(directory, "sandbox") });
  if (containment.problem !== undefined) throw new NotMeasured(containment.problem.problem);
  // Time is what is measured: no page is given up for it.
  const bounds = { pageMs: 60_000 };
  const reader = createPageReader({ containment: () => Promise.resolve(containment), bounds });
  const count = Math.max(3, Math.round(COUNT * scale));
  const [page, longPage] = [samplePage(PAGE_BYTES), samplePage(LONG_PAGE_BYTES)];

  async function readHere(html: string): Promise<void> {
    const { content } = await Defuddle(html, URL_OF_PAGE, OPTIONS);
    verifyMarkdown(content);
  }

  async function readThere(html: string): Promise<void> {
    const bytes = Buffer.from(html);
    const asked = { bytes, contentType: "text/html", url: URL_OF_PAGE, extent: "main" } as const;
    verifyMarkdown((await reader.read(asked, new AbortController().signal)).text);
  }

  async function readFirst(): Promise<void> {
    const fresh = createPageReader({ containment: () => Promise.resolve(containment), bounds });
    const asked = { bytes: Buffer.from("<p>x"), contentType: "text/html", url: URL_OF_PAGE, extent: "main" } as const;
    try {
      await fresh.read(asked, new AbortController().signal);
    } finally {
      await fresh.close();
    }
  }

  const results = await interleave(rounds, {
    ours: () => medianTime(count, () => readThere(page)),
    library: () => medianTime(count, () => readHere(page)),
    oursLong: () => medianTime(2, () => readThere(longPage)),
    libraryLong: () => medianTime(2, () => readHere(longPage)),
    first: () => medianTime(3, readFirst),
  });
  await reader.close();
  await containment.close();
  return {
    rows: [
      {
        what: "p50 of a page of 54 KB to Markdown, in a sandbox",
        ours: { value: Math.min(...results.ours), unit: "ms" },
        beside: { value: Math.min(...results.library), unit: "ms", name: "defuddle + linkedom in the process" },
        ratio: ratioOf(results.ours, results.library),
        bar: { of: "ratio", limit: "at most", value: 1.1 },
        picture: "a page to Markdown, beside defuddle alone",
      },
      {
        what: "p50 of a page of 512 KB to Markdown, in a sandbox",
        ours: { value: Math.min(...results.oursLong), unit: "ms" },
        beside: { value: Math.min(...results.libraryLong), unit: "ms", name: "defuddle + linkedom in the process" },
        ratio: ratioOf(results.oursLong, results.libraryLong),
        bar: { of: "ours", limit: "at most", value: MAX_PAGE_MS },
      },
      {
        what: "p50 of the first short page, which starts a worker and ends it",
        ours: { value: Math.min(...results.first), unit: "ms" },
      },
    ],
    raw: {
      "ours, 54 KB, p50 ms": results.ours,
      "defuddle, 54 KB, p50 ms": results.library,
      "ours, 512 KB, p50 ms": results.oursLong,
      "defuddle, 512 KB, p50 ms": results.libraryLong,
      "first page, p50 ms": results.first,
    },
    notes: [
      "The library alone writes Markdown by turndown, after it has parsed the content once more; the reader writes it itself.",
      "Above 3000 elements the reader finds the main content by what the page calls it, and does not weigh up every part.",
    ],
  };
};

function verifyMarkdown(text: string): void {
  if (!text.includes("| --- |") || !text.includes("```") || text.includes("navigation-word")) {
    throw new Error(`this is not the page's main content: ${text.slice(0, 200)}`);
  }
}

const WORDS = "the kernel looks at every call before it runs and keeps what came of it for whoever asks later on".split(
  " ",
);

/** Sections of an article with links, lists, tables and code, until it is so long. The same in every run. */
function samplePage(bytes: number): string {
  const sections: string[] = [];
  for (let number = 0, length = 0; length < bytes; number++) {
    const section = sampleSection(number);
    sections.push(section);
    length += section.length;
  }
  const links = Array.from({ length: 40 }, (_, n) => `<li><a href="/nav/${n}">navigation-word</a></li>`).join("");
  const head = "<head><title>Sample</title><style>p { color: red }</style><script>let x = 1;</script></head>";
  return `<!doctype html><html>${head}<body><nav><ul>${links}</ul></nav><main><article><h1>Sample</h1>${sections.join("")}</article></main></body></html>`;
}

function sampleSection(number: number): string {
  const words = (count: number, from: number): string =>
    Array.from({ length: count }, (_, n) => WORDS[(from + n * 7) % WORDS.length]).join(" ");
  const row = `<tr><td>${words(2, number)}</td><td>${number}</td><td>${words(4, number)}</td></tr>`;
  return [
    `<h2 id="s${number}">${words(4, number)}</h2>`,
    `<p>${words(40, number)} <a href="/docs/${number}?q=1">${words(3, number)}</a>, ${words(30, number)} <code>run</code>.</p>`,
    `<p>${words(60, number)} <strong>${words(3, number)}</strong>.</p>`,
    number % 3 === 0 ? `<ul>${`<li>${words(10, number)}</li>`.repeat(5)}</ul>` : "",
    number % 4 === 1 ? `<table><tr><th>a</th><th>b</th><th>c</th></tr>${row.repeat(6)}</table>` : "",
    number % 5 === 2 ? `<pre><code class="language-ts">if (a &lt; ${number}) {\n  run(a);\n}\n</code></pre>` : "",
  ].join("\n");
}
