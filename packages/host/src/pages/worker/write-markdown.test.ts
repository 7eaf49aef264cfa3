import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseDocument } from "./dom.ts";
import { dropHidden } from "./drop-hidden.ts";
import { writeMarkdown } from "./write-markdown.ts";

function markdown(html: string): string {
  const document = parseDocument(html);
  dropHidden(document);
  return writeMarkdown(document.body, { url: "https://example.com/a/b" }).trim();
}

describe("Markdown of a page", () => {
  it("has nothing that a reader would not see", () => {
    for (const html of [
      "<script>bad</script>",
      "<SCRIPT>bad</SCRIPT>",
      "<style>bad</style>",
      "<template>bad</template>",
      "<noscript>bad</noscript>",
      "<div hidden>bad</div>",
      "<div Hidden=''>bad</div>",
      "<p style='display:none'>bad</p>",
      "<p STYLE='color:red; DISPLAY : none !important'>bad</p>",
      "<p style='visibility: hidden'>bad</p>",
      "<p style='opacity:0'>bad</p>",
      "<p style='font-size:0px'>bad</p>",
      "<dialog>bad</dialog>",
      "<input value=bad>",
      "<textarea>bad</textarea>",
      "<select><option>bad</select>",
      "<svg><title>bad</title></svg>",
      "<iframe>bad</iframe>",
      "<!-- bad -->",
      "<div hidden id='S:0'>bad</div><template id='B:0'></template>",
    ]) {
      assert.equal(markdown(`<p>good</p>${html}`), "good", html);
    }
    assert.equal(markdown("<p style='opacity:0.5'>seen</p>"), "seen");
  });

  it("has what a page's own script puts in its place", () => {
    const script = '<script>$RC("B:0","S:0")</script>';
    const html = `<p>before</p><template id="B:0"></template><p>after</p><div hidden id="S:0">late</div>${script}`;
    assert.equal(markdown(html), "before\n\nlate\n\nafter");
  });

  it("has absolute links, and no link to a script or to data", () => {
    assert.equal(markdown("<a href='../c?d=1#e'>x</a>"), "[x](https://example.com/c?d=1#e)");
    assert.equal(markdown("<A HREF='//other.org/p'> x </A>y"), "[x](https://other.org/p) y");
    assert.equal(markdown("<a href='/p_(q)'>x</a>"), "[x](https://example.com/p_%28q%29)");
    for (const href of [
      "javascript:alert(1)",
      " JaVaScRiPt:x",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc/passwd",
    ]) {
      assert.equal(markdown(`<a href="${href}">x</a>`), "x", href);
    }
    assert.equal(markdown("<img src='i.png' alt='a ] b'>"), "![a \\] b](https://example.com/a/i.png)");
    assert.equal(markdown("<img src='data:image/png;base64,xx' alt='a'>"), "a");
  });

  it("keeps headings, emphasis, rules and quotes", () => {
    assert.equal(markdown("<h1>A</h1><h3>B <em>c</em></h3>"), "# A\n\n### B *c*");
    assert.equal(markdown("a<b> b </b>c <i></i>d"), "a **b** c d");
    assert.equal(markdown("<p>a<hr>b<br>c"), "a\n\n---\n\nb  \nc");
    assert.equal(markdown("<blockquote><p>a<p>b</blockquote>"), "> a\n>\n> b");
  });

  it("keeps lists, one within the other", () => {
    assert.equal(markdown("<ul><li>a<ol start=3><li>b<li>c</ol><li>d</ul>"), "- a\n  3. b\n  4. c\n- d");
    assert.equal(markdown("<ol><li><p>a<p>b</ol>"), "1. a\n\n   b");
  });

  it("keeps code as it stands, whatever is in it", () => {
    const pre = markdown('<pre><code class="hljs language-js">a &lt; b;\n\n\tif (x) {\n  *y* [z]\n</code></pre>');
    assert.equal(pre, "```js\na < b;\n\n\tif (x) {\n  *y* [z]\n```");
    assert.equal(markdown("<pre>a\n```\nb</pre>"), "````\na\n```\nb\n````");
    assert.equal(markdown("<pre>a<br>b</pre>"), "```\na\nb\n```");
    assert.equal(markdown("use <code>a`b</code>"), "use ``a`b``");
  });

  it("keeps tables, also with cells over several rows and columns", () => {
    const table = "<table><tr><th>a<th>b</tr><tr><td>1|2<td><a href=/x>y</a></tr></table>";
    assert.equal(markdown(table), "| a | b |\n| --- | --- |\n| 1\\|2 | [y](https://example.com/x) |");
    const spans = "<table><tr><td colspan=2>a<td>b</tr><tr><td rowspan=2>c<td>d<td>e</tr><tr><td>f<td>g</tr></table>";
    assert.equal(markdown(spans), "| a |  | b |\n| --- | --- | --- |\n| c | d | e |\n|  | f | g |");
  });

  it("writes a table that only lays out a page as what is in it", () => {
    assert.equal(markdown("<table><tr><td><h2>a</h2><td><p>b</tr></table>"), "## a\n\nb");
  });

  it("escapes what would be read as something else", () => {
    assert.equal(markdown("<p># a"), "\\# a");
    assert.equal(markdown("<p>1. a"), "1\\. a");
    assert.equal(markdown("<p>- a"), "\\- a");
    assert.equal(
      markdown("<p>*a* [b](c) `d` &lt;script&gt; _e_ f_g"),
      "\\*a\\* \\[b\\](c) \\`d\\` \\<script> \\_e\\_ f_g",
    );
  });

  it("does not grow with the depth of lists and quotes", () => {
    const deep = markdown(`${"<blockquote>".repeat(250)}${"line<br>".repeat(20)}`);
    assert.ok(deep.length < 20 * 60, String(deep.length));
  });
});
