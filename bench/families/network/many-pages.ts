import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { Measurement } from "../../harness/measurement.ts";
import { MB, measureMemory } from "../../harness/resident.ts";
import { openNetwork } from "./open-network.ts";
import { serveLoopback } from "./serve-loopback.ts";

const PAGES = 1000;
const LOOK_EVERY_MS = 20;
const MAX_GROWTH_MB = 256;

/** A thousand pages at once: each is fetched, read in a sandbox and kept, in flat memory. */
export const manyPages: Measurement = async ({ scale, directory }) => {
  const server = await serveLoopback();
  const bench = await openNetwork(directory, server.port);
  const fetchPage = (n: number): Promise<unknown> => bench.call("web_fetch", { url: `${server.url}/page?${n}` });
  const count = Math.max(50, Math.round(PAGES * scale));
  // The workers are there, and what a call needs is compiled.
  for (let n = 0; n < 20; n++) await fetchPage(-n);
  const before = (await measureMemory()).residentBytes;

  const looking = new AbortController();
  const peak = watchPeak(looking.signal);
  const startedMs = performance.now();
  const ended = await Promise.allSettled(Array.from({ length: count }, (_, n) => fetchPage(n)));
  const seconds = (performance.now() - startedMs) / 1000;
  looking.abort();
  const growth = ((await peak) - before) / MB;
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  await bench.close();
  await server.stop();
  return {
    rows: [
      {
        what: `peak of the kernel's memory while ${count.toLocaleString("en-US")} pages are fetched at once`,
        ours: { value: growth, unit: "MB more" },
        bar: { of: "ours", limit: "at most", value: MAX_GROWTH_MB },
        picture: "memory for 1,000 pages at once",
      },
      { what: "pages fetched and read, all at once", ours: { value: count / seconds, unit: "/s" } },
    ],
    raw: { "MB more at the peak": [growth], "seconds for all": [seconds] },
  };
};

async function watchPeak(signal: AbortSignal): Promise<number> {
  let peak = 0;
  while (!signal.aborted) {
    const [, residentPages = "0"] = (await readFile("/proc/self/statm", "utf8")).split(" ");
    peak = Math.max(peak, Number(residentPages) * 4096);
    await wait(LOOK_EVERY_MS);
  }
  return peak;
}
