import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { isKernelError } from "@narthex/contracts";
import type { ToolSession } from "@narthex/kernel";
import { type BraveServer, type SearxngServer, startBraveServer, startSearxngServer } from "@narthex/testkit";
import { openWebSession, type WebSession } from "../testing/web-session.ts";
import { plainSnippet } from "./plain-snippet.ts";
import { createWebSearch } from "./web-search.ts";

const KEY = "BSA-0123456789abcdef";
const SESSION: ToolSession = { id: "s", tenant: "t", workspace: "/w", workingDirectory: "/w" };

describe("web_search", () => {
  let searxng: SearxngServer;
  let brave: BraveServer;
  let web: WebSession;
  before(async () => {
    [searxng, brave] = await Promise.all([startSearxngServer(), startBraveServer(KEY)]);
    const search = createWebSearch([
      { name: "own", kind: "searxng", baseUrl: `${searxng.url}/` },
      { name: "brave", kind: "brave", baseUrl: brave.url, key: "brave_key" },
      { name: "badly_keyed", kind: "brave", baseUrl: brave.url, key: "other_key" },
    ]);
    web = await openWebSession({ tools: [search], secrets: { brave_key: KEY, other_key: "BSA-wrong" } });
  });
  after(async () => {
    await web.close();
    await Promise.all([searxng.close(), brave.close()]);
  });

  it("rejects an invalid query without sending a request", async () => {
    const counts = [searxng.requests.length, brave.requests.length];
    for (const input of [
      {},
      { query: "" },
      { query: "x".repeat(401) },
      { query: "x", max_results: 0 },
      { query: "x", max_results: 21 },
      { query: "x", provider: "google" },
      { query: "x", key: KEY },
      { query: "x", provider: "https://evil.example/" },
    ]) {
      assert.equal((await web.call("web_search", input)).code, "INVALID_INPUT", JSON.stringify(input));
    }
    assert.deepEqual([searxng.requests.length, brave.requests.length], counts);
  });

  it("says what went wrong at the provider", async () => {
    for (const [mood, code] of [
      ["limited", "RATE_LIMITED"],
      ["no_json", "UPSTREAM_ERROR"],
      ["engines_down", "UPSTREAM_ERROR"],
      ["not_json", "UPSTREAM_ERROR"],
      ["wrong_shape", "UPSTREAM_ERROR"],
    ] as const) {
      searxng.mood = mood;
      const end = await web.call("web_search", { query: "cedar" });
      assert.deepEqual([end.code, end.retryAfterMs], [code, mood === "limited" ? 7000 : 0], mood);
    }
    searxng.mood = "well";
    for (const [mood, code] of [
      ["limited", "RATE_LIMITED"],
      ["wrong_shape", "UPSTREAM_ERROR"],
      ["down", "UPSTREAM_ERROR"],
    ] as const) {
      brave.mood = mood;
      assert.equal((await web.call("web_search", { query: "cedar", provider: "brave" })).code, code, mood);
    }
    brave.mood = "well";
    assert.equal((await web.call("web_search", { query: "x", provider: "badly_keyed" })).code, "UPSTREAM_ERROR");
  });

  it("asks SearXNG, and gives pages of the web only", async () => {
    const { list, labels } = await web.call("web_search", { query: "cedar & policy=1" });
    assert.deepEqual(list, [
      {
        title: "Cedar Language",
        url: "https://www.cedarpolicy.com/en",
        snippet:
          "Cedar is an open source language for writing authorization policies and making decisions based on those policies.",
      },
      {
        title: "Basic policy construction in Cedar | Cedar Policy Language Reference Guide",
        url: "https://docs.cedarpolicy.com/policies/syntax-policy.html?x=1&y=2",
        snippet: "This topic describes the syntax of a policy: if a < b && c > d then …",
      },
      { title: "github.com", url: "https://github.com/cedar-policy/cedar", snippet: "" },
    ]);
    assert.deepEqual(labels, ["untrusted"]);
    const asked = new URL(searxng.requests.at(-1)?.path ?? "", searxng.url);
    assert.deepEqual(
      [...asked.searchParams],
      [
        ["q", "cedar & policy=1"],
        ["format", "json"],
      ],
    );
  });

  it("asks Brave with its key, and gives plain text", async () => {
    const { list } = await web.call("web_search", { query: "cedar", provider: "brave", max_results: 4 });
    assert.deepEqual(list, [
      {
        title: "Cedar Policy Language & SDK",
        url: "https://www.cedarpolicy.com/",
        snippet:
          "Cedar is a language for defining permissions as policies; it's checked with <strong> types — see Rust's crate",
      },
      {
        title: "Policy syntax - Cedar",
        url: "https://docs.cedarpolicy.com/policies/syntax-policy.html",
        snippet: "permit(principal, action, resource) when { resource.owner == principal };",
      },
    ]);
    const { headers, path } = brave.requests.at(-1) ?? assert.fail();
    assert.equal(headers["x-subscription-token"], KEY);
    assert.equal(new URL(path, brave.url).searchParams.get("count"), "4");
  });

  it("gives no more than was asked for, and nothing where nothing was found", async () => {
    assert.equal((await web.call("web_search", { query: "cedar", max_results: 1 })).list.length, 1);
    brave.mood = "nothing_found";
    const { code, list } = await web.call("web_search", { query: "cedar", provider: "brave" });
    brave.mood = "well";
    assert.deepEqual([code, list], ["", []]);
  });

  it("needs the provider's own host", () => {
    const search = createWebSearch([
      { name: "own", kind: "searxng", baseUrl: "http://[::1]:8888/searxng" },
      { name: "brave", kind: "brave", baseUrl: "https://api.search.brave.com", key: "k" },
    ]);
    assert.deepEqual(search.needs?.({ query: "x" }, SESSION), [
      { kind: "net_read", hosts: [{ host: "::1", ports: [8888] }] },
    ]);
    assert.deepEqual(search.needs?.({ query: "x", provider: "brave" }, SESSION), [
      { kind: "net_read", hosts: [{ host: "api.search.brave.com", ports: [443] }] },
    ]);
    assert.deepEqual(search.endpoints, [
      { host: "::1", ports: [8888] },
      { host: "api.search.brave.com", ports: [443] },
    ]);
  });

  it("is not made without providers that can be asked", () => {
    const own = { name: "own", kind: "searxng", baseUrl: "https://searx.example" } as const;
    for (const providers of [
      [],
      [own, own],
      [{ ...own, baseUrl: "ftp://searx.example" }],
      [{ ...own, baseUrl: "https://user:pass@searx.example" }],
      [{ ...own, baseUrl: "https://searx.example/?q=x" }],
      [{ name: "brave", kind: "brave", baseUrl: "https://api.search.brave.com" } as const],
    ]) {
      assert.throws(
        () => createWebSearch(providers),
        (fault) => isKernelError(fault) && fault.code === "CONFIG_INVALID",
      );
    }
  });
});

it("a snippet's tags are gone, and what was escaped is text", () => {
  for (const [html, text] of [
    ["<strong>a</strong> &lt;script&gt;", "a <script>"],
    ["&amp;lt;b&amp;gt;", "&lt;b&gt;"],
    ["1 < 2 > 1", "1 < 2 > 1"],
    ["&#xD800;&#1114112;&#0;&bogus;", "&#xD800;&#1114112;&#0;&bogus;"],
    ["&#x1F600;", "😀"],
    ["<img src=x onerror=alert(1)>b", "b"],
  ] as const) {
    assert.equal(plainSnippet(html), text);
  }
});
