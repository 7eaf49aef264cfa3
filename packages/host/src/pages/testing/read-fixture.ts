import type { FetchedPage } from "@narthex/kernel";

/** Creates a fetched page: HTML in UTF-8 unless overridden. */
export function page(content: string | Uint8Array, other: Partial<FetchedPage> = {}): FetchedPage {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return { bytes, contentType: "text/html", url: "https://example.com/docs/guide/page", extent: "whole", ...other };
}

export const signal = (): AbortSignal => new AbortController().signal;

const SENTENCE = "The gate looks at every address before it dials, and what it refuses is never reached. ";

/** An article with everything that must be kept, and with surrounding and embedded parts that must be dropped. */
export const ARTICLE = `<!doctype html>
<html><head><title>The gate &amp; its rules</title><style>.lead { color: red }</style>
<script>track("secret-script-word")</script></head>
<body><nav><a href="/home">navigation-word</a></nav>
<main><article><h1>The gate</h1><p>${SENTENCE.repeat(8)}See <a href="../rules?all=1#first">the rules</a>.</p>
<p style="color: red; display: none">hidden-by-style</p><div HIDDEN>hidden-by-attribute</div>
<p STYLE="visibility:hidden">hidden-by-visibility</p>
<h2>Addresses</h2><p>${SENTENCE.repeat(6)}</p>
<table><thead><tr><th>Range</th><th>Verdict</th></tr></thead>
<tbody><tr><td>10.0.0.0/8</td><td>refused | private</td></tr><tr><td>8.8.8.8</td><td>allowed</td></tr></tbody></table>
<h3>Code</h3><pre><code class="language-ts">if (address &lt; limit) {
  dial(address);
}</code></pre><p>${SENTENCE.repeat(6)}</p>
<ul><li>first point<ul><li>nested point</li></ul></li><li>second point</li></ul>
<script>document.write("inline-script-word")</script></article></main>
<footer>footer-word</footer></body></html>`;
