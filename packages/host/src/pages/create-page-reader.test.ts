import assert from "node:assert/strict";
import { readdir, readFile, rm, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isKernelError, type KernelError } from "@narthex/contracts";
import type { FetchedPage, PageText } from "@narthex/kernel";
import { type Containment, openContainment } from "../sandbox/open-containment.ts";
import type { ContainedProgram } from "../sandbox/start-contained.ts";
import { type ClosablePageReader, createPageReader } from "./create-page-reader.ts";
import { startPageWorker } from "./start-page-worker.ts";
import { ARTICLE, page, signal } from "./testing/read-fixture.ts";
import { MAX_PAGE_BYTES } from "./worker/messages.ts";

/** Nothing here is about time but where it is said: a busy machine is no reason to fail. */
const PATIENT = { pageMs: 60_000 };

describe("reading pages in sandboxed workers", () => {
  let directory: string;
  let containment: Containment;
  let reader: ClosablePageReader;
  /** Every worker that was started, of all readers. */
  const started: ContainedProgram[] = [];
  const start = async (): Promise<ContainedProgram> => {
    const worker = await startPageWorker(containment);
    started.push(worker);
    return worker;
  };
  const open = (bounds = {}): ClosablePageReader =>
    createPageReader({ containment: () => Promise.resolve(containment), start, bounds });
  const read = (asked: FetchedPage): Promise<PageText> => reader.read(asked, signal());

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-pages-"));
    containment = await openContainment({ directory });
    reader = open(PATIENT);
  });
  after(async () => {
    await reader.close();
    await containment.close();
    await rm(directory, { recursive: true, force: true });
  });

  describe("bad input", () => {
    it("is refused where it is no text", async () => {
      const png = Buffer.from("89504e470d0a1a0a0000000d", "hex");
      await assertCode(read(page(png, { contentType: "image/png" })), "NOT_TEXT");
      await assertCode(read(page(png)), "NOT_TEXT");
      await assertCode(read(page(Buffer.from([0, 1, 2, 3]), { contentType: undefined })), "NOT_TEXT");
    });

    it("is refused where it is too long, before a worker sees it", async () => {
      const fault = await assertCode(read(page(Buffer.alloc(MAX_PAGE_BYTES + 1, 97))), "RESOURCE_EXCEEDED");
      assert.match(fault.message, /longer than 10485760 bytes/);
    });

    it("is read where it can be: empty pages, NULs, tags without an end, bytes that are no UTF-8", async () => {
      assert.deepEqual(await read(page("")), { format: "markdown", text: "\n", title: undefined, charset: "utf-8" });
      assert.equal((await read(page("<p>a\0b</p>and much more of it"))).text, "ab\n\nand much more of it\n");
      assert.equal((await read(page("<p>one<p>two<b>three<i>four"))).text, "one\n\ntwo**three*four***\n");
      const broken = Buffer.concat([Buffer.from("<meta charset=utf-8><p>a"), Buffer.from([0xff, 0xc3])]);
      assert.equal((await read(page(broken))).text, "a\u{fffd}\u{fffd}\n");
      assert.equal((await read(page("<p>x", { url: "no address", extent: "main" }))).text, "x\n");
    });
  });

  describe("an article", () => {
    for (const extent of ["main", "whole"] as const) {
      it(`keeps headings, links, tables and code, and no script, style or hidden text (${extent})`, async () => {
        const { text, title, format, charset } = await read(page(ARTICLE, { extent }));
        assert.deepEqual([format, title, charset], ["markdown", "The gate & its rules", "utf-8"]);
        assert.match(text, /^## Addresses$/m);
        assert.match(text, /^### Code$/m);
        assert.match(text, /\[the rules\]\(https:\/\/example\.com\/docs\/rules\?all=1#first\)/);
        assert.match(text, /^\| Range \| Verdict \|\n\| --- \| --- \|\n\| 10\.0\.0\.0\/8 \| refused \\\| private \|$/m);
        assert.match(text, /^```ts\nif \(address < limit\) \{\n {2}dial\(address\);\n\}\n```$/m);
        assert.match(text, /^- first point\n {2}- nested point\n- second point$/m);
        assert.doesNotMatch(text, /hidden-by|script-word|color: red|track|<p>/);
        assert.equal(/navigation-word|footer-word/.test(text), extent === "whole");
      });
    }

    it("gives the main content of a page that is too long to be weighed up", async () => {
      const rows = Array.from({ length: 3500 }, (_, row) => `<p>paragraph ${row}</p>`).join("");
      const html = `<nav>navigation-word</nav><main><h1>Long</h1>${rows}</main><footer>footer-word</footer>`;
      const { text } = await read(page(html, { extent: "main" }));
      assert.match(text, /^# Long\n\nparagraph 0\n/);
      assert.match(text, /paragraph 3499\n$/);
      assert.doesNotMatch(text, /-word/);
    });

    it("has links that start where the page says they do", async () => {
      const { text } = await read(page('<base href="https://other.org/x/"><a href="y">z</a>'));
      assert.equal(text, "[z](https://other.org/x/y)\n");
    });
  });

  it("gives other text as it came", async () => {
    const json = '{ "a":1,\n"b" : "<p>" }';
    const asJson = await read(page(json, { contentType: "application/json" }));
    assert.deepEqual([asJson.format, asJson.text], ["json", json]);
    const rss = '<?xml version="1.0"?><rss><title>x</title></rss>';
    const asText = await read(page(rss, { contentType: "application/rss+xml", extent: "main" }));
    assert.deepEqual([asText.format, asText.text], ["text", rss]);
    const deep = "[".repeat(1_000_000);
    assert.equal((await read(page(deep, { contentType: "application/json" }))).text, deep);
  });

  it("reads what is not UTF-8", async () => {
    const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("<p>wide \u2713", "utf16le")]);
    const cyrillic = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
    const japanese = Buffer.concat([Buffer.from("<meta charset=Shift_JIS><p>"), Buffer.from([0x93, 0xfa, 0x96, 0x7b])]);
    const texts = await Promise.all([
      read(page(wide)),
      read(page(cyrillic, { contentType: "text/html; charset=windows-1251" })),
      read(page(japanese)),
    ]);
    const found = texts.map(({ text, charset }) => [text, charset]);
    assert.deepEqual(found, [
      ["wide \u2713\n", "utf-16le"],
      ["Привет\n", "windows-1251"],
      ["日本\n", "shift_jis"],
    ]);
  });

  describe("a page that would keep a worker", () => {
    /** Each is read, or ended in time; the next page is read either way. */
    for (const [name, make] of [
      ["100,000 elements in each other", () => "<div>".repeat(100_000)],
      ["10 MB of `<`", () => "<".repeat(MAX_PAGE_BYTES)],
      ["a million paragraphs", () => "<p>".repeat(1_000_000)],
      ["unclosed formatting", () => "<b><i><p>".repeat(100_000)],
      ["100,000 attributes", () => `<p ${Array.from({ length: 100_000 }, (_, n) => `A${n}=1`).join(" ")}>x`],
      ["a table of 50,000 cells", () => `<table>${"<tr><td>1<td>2<td>3<td>4<td>5".repeat(10_000)}</table>`],
    ] as const) {
      it(`is read or ended: ${name}`, async () => {
        await using bounded = disposable(open({ pageMs: 1000 }));
        const bytes = Buffer.from(make());
        const outcome = await bounded.reader.read(page(bytes, { extent: "main" }), signal()).then(
          () => "read",
          (fault: unknown) => (isKernelError(fault) ? fault.code : fault),
        );
        assert.ok(outcome === "read" || outcome === "RESOURCE_EXCEEDED", String(outcome));
        assert.equal((await read(page("<p>next"))).text, "next\n");
      });
    }

    it("is ended when its time is over, the limit is named, and another worker goes on", async () => {
      await using bounded = disposable(open({ maxWorkers: 1, pageMs: 300 }));
      const before = started.length;
      const fault = await assertCode(
        bounded.reader.read(page("<b><i><p>".repeat(300_000)), signal()),
        "RESOURCE_EXCEEDED",
      );
      assert.match(fault.message, /longer than 300 ms/);
      await started[before]?.ended.catch(() => undefined);
      await bounded.reader.read(page("ok", { contentType: "text/plain" }), signal());
      assert.equal(started.length, before + 2);
    });

    it("is ended when it takes too much memory", async () => {
      const small = (): Promise<ContainedProgram> => startPageWorker(containment, 32);
      const parts = { containment: () => Promise.resolve(containment), start: small, bounds: PATIENT };
      await using own = disposable(createPageReader(parts));
      const fault = await assertCode(own.reader.read(page("<br a>".repeat(200_000)), signal()), "RESOURCE_EXCEEDED");
      assert.match(fault.message, /more memory/);
    });
  });

  describe("a worker", () => {
    it("that is killed from outside fails its page only", async () => {
      await using own = disposable(open({ ...PATIENT, maxWorkers: 1 }));
      const before = started.length;
      await own.reader.read(page("<p>first"), signal());
      const reading = own.reader.read(page("<b><i><p>".repeat(300_000)), signal());
      const waiting = own.reader.read(page("<p>waiting"), signal());
      const pid = await started[before]?.pid;
      assert.ok(pid !== undefined);
      process.kill(pid, "SIGKILL");
      await assertCode(reading, "SANDBOX_ERROR");
      assert.equal((await waiting).text, "waiting\n");
    });

    it("is ended when its page is not wanted any more, at once", async () => {
      await using own = disposable(open({ ...PATIENT, maxWorkers: 1 }));
      const before = started.length;
      await own.reader.read(page("<p>first"), signal());
      const [reads, waits] = [new AbortController(), new AbortController()];
      const reading = own.reader.read(page("<b><i><p>".repeat(300_000)), reads.signal);
      const waiting = own.reader.read(page("<p>waiting"), waits.signal);
      waits.abort();
      await assertCode(waiting, "CANCELLED");
      reads.abort();
      await assertCode(reading, "CANCELLED");
      await started[before]?.ended.catch(() => undefined);
      await assertCode(own.reader.read(page("<p>x"), reads.signal), "CANCELLED");
      assert.equal((await own.reader.read(page("<p>next"), signal())).text, "next\n");
    });

    it("reads a limited number of pages, and ends when it is no longer needed", async () => {
      await using own = disposable(open({ ...PATIENT, maxWorkers: 1, pagesPerWorker: 2, idleMs: 1 }));
      const before = started.length;
      const pages = Array.from({ length: 3 }, () => own.reader.read(page("<p>x"), signal()));
      await Promise.all(pages);
      assert.equal(started.length, before + 2);
      await Promise.all(started.slice(before).map(({ ended }) => ended.catch(() => undefined)));
    });

    it("sees no network, no file of the host and no other process", async () => {
      await using own = disposable(open(PATIENT));
      await own.reader.read(page("<p>x"), signal());
      const pid = await started.at(-1)?.pid;
      assert.ok(pid !== undefined);
      const [net, status] = await Promise.all([
        readFile(`/proc/${pid}/net/dev`, "utf8"),
        readFile(`/proc/${pid}/status`, "utf8"),
      ]);
      assert.deepEqual(
        net.match(/^ *\w+(?=:)/gm)?.map((name) => name.trim()),
        ["lo"],
      );
      assert.match(status, /^Seccomp:\s+2$/m);
      assert.match(status, /^CapEff:\s+0+$/m);
      assert.deepEqual((await readdir(`/proc/${pid}/root/opt`)).toSorted(), ["node", "page-worker"]);
      assert.equal((await readdir(`/proc/${pid}/root`)).includes("workspace"), false);
      const processes = (await readdir(`/proc/${pid}/root/proc`)).filter((name) => /^\d+$/.test(name));
      assert.ok(processes.length <= 2, processes.join(" "));
    });
  });

  it("reads a thousand pages at once by two workers, and keeps no copy of those that wait", async () => {
    const before = started.length;
    await using own = disposable(open(PATIENT));
    const bytes = Buffer.from(`<p>x</p><!--${"y".repeat(64 * 1024)}-->`);
    await own.reader.read(page(bytes), signal());
    const resident = process.memoryUsage().external;
    let most = 0;
    const texts = await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const { text } = await own.reader.read(page(bytes), signal());
        most = Math.max(most, process.memoryUsage().external);
        return text;
      }),
    );
    assert.ok(texts.every((text) => text === "x\n"));
    assert.ok(most - resident < 16 * 1024 * 1024, `${most - resident} bytes more`);
    // Two, and what took their place after 200 pages each.
    assert.ok(started.length - before <= 2 + 6, String(started.length - before));
  });

  it("refuses those who come when too many wait, and everybody when it is closed", async () => {
    const own = open({ ...PATIENT, maxWorkers: 1, maxWaiting: 1 });
    const first = own.read(page("<b><i><p>".repeat(300_000)), signal());
    const second = own.read(page("<p>x"), signal());
    const third = assertCode(own.read(page("<p>x"), signal()), "RESOURCE_EXCEEDED");
    const outcomes = Promise.all([assertCode(first, "CANCELLED"), assertCode(second, "CANCELLED"), third]);
    await third;
    await own.close();
    await outcomes;
    await assertCode(own.read(page("<p>x"), signal()), "CANCELLED");
  });

  it("reads nothing where nothing can be contained", async () => {
    const none = await openContainment({ directory, path: [] });
    const refusing = createPageReader({ containment: () => Promise.resolve(none) });
    await assertCode(refusing.read(page("<p>x"), signal()), "SANDBOX_UNAVAILABLE");
    await assertCode(refusing.read(page("{}", { contentType: "application/json" }), signal()), "SANDBOX_UNAVAILABLE");
    await refusing.close();
  });
});

function disposable(reader: ClosablePageReader): AsyncDisposable & { readonly reader: ClosablePageReader } {
  return { reader, [Symbol.asyncDispose]: () => reader.close() };
}

async function assertCode(reading: Promise<unknown>, code: string): Promise<KernelError> {
  const fault = await reading.then(
    () => assert.fail(`it was read, and should be ${code}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(isKernelError(fault), String(fault));
  assert.equal(fault.code, code, fault.message);
  return fault;
}
