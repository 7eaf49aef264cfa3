import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodePage } from "./decode-page.ts";

const CYRILLIC = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
const html = (head: string, body: Uint8Array): Uint8Array => Buffer.concat([Buffer.from(`${head}<p>`), body]);

describe("the charset of a page", () => {
  it("is never a reason to throw: what cannot be decoded is replaced", () => {
    const { text, charset } = decodePage(Buffer.from([0x61, 0xff, 0xfe, 0x62]), "text/plain; charset=utf-8", "text");
    assert.deepEqual([text, charset], ["a\u{fffd}\u{fffd}b", "utf-8"]);
  });

  it("is not taken from an unknown charset label", () => {
    const unknown = decodePage(Buffer.from("caf\u00e9"), 'text/html; charset="no-such-set"', "html");
    assert.deepEqual([unknown.text, unknown.charset], ["caf\u00e9", "utf-8"]);
    const meta = decodePage(html('<meta charset="klingon">', CYRILLIC), undefined, "html");
    assert.equal(meta.charset, "windows-1252");
    const second = decodePage(html("<meta charset=klingon><meta charset=windows-1251>", CYRILLIC), undefined, "html");
    assert.equal(second.charset, "windows-1251");
  });

  it("is the byte order mark's, whatever header and page say, and the mark is no text", () => {
    const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("<p>hi \u2713", "utf16le")]);
    assert.deepEqual(decodePage(wide, "text/html; charset=utf-8", "html"), {
      text: "<p>hi \u2713",
      charset: "utf-16le",
    });
    const big = Buffer.from([0xfe, 0xff, 0x00, 0x68]);
    assert.deepEqual(decodePage(big, undefined, "text"), { text: "h", charset: "utf-16be" });
    const utf8 = decodePage(Buffer.from("\u{feff}x\u00e9"), "text/plain; charset=windows-1252", "text");
    assert.deepEqual(utf8, { text: "x\u00e9", charset: "utf-8" });
  });

  it("is the header's rather than the page's", () => {
    const bytes = html("<meta charset=shift_jis>", CYRILLIC);
    const { text, charset } = decodePage(bytes, "text/html;charset=Windows-1251", "html");
    assert.equal(charset, "windows-1251");
    assert.match(text, /Привет/);
  });

  it("is what the page says in its first bytes, in either way of saying it", () => {
    const japanese = Buffer.from([0x93, 0xfa, 0x96, 0x7b]);
    const said = ['<META CHARSET="Shift_JIS">', '<meta http-equiv="Content-Type" content="text/html; charset=x-sjis">'];
    for (const head of said) {
      const { text, charset } = decodePage(html(head, japanese), "text/html", "html");
      assert.equal(charset, "shift_jis");
      assert.match(text, /日本/);
    }
    const xml = decodePage(html('<?xml version="1.0" encoding="windows-1251"?>', CYRILLIC), "text/xml", "xml");
    assert.equal(xml.charset, "windows-1251");
  });

  it("is not what a comment, a later byte or a text says", () => {
    const comment = decodePage(html("<!-- <meta charset=shift_jis> -->", CYRILLIC), undefined, "html");
    assert.equal(comment.charset, "windows-1252");
    const late = decodePage(html(`${" ".repeat(1024)}<meta charset=shift_jis>`, CYRILLIC), undefined, "html");
    assert.equal(late.charset, "windows-1252");
    assert.equal(decodePage(html("<meta charset=shift_jis>", CYRILLIC), "text/plain", "text").charset, "windows-1252");
  });

  it("is not UTF-16 because a page says so that could be read byte by byte", () => {
    assert.equal(decodePage(Buffer.from("<meta charset=utf-16le>"), undefined, "html").charset, "utf-8");
  });

  it("is UTF-8 where nothing says otherwise and it is that, and windows-1252 where it is not", () => {
    assert.equal(decodePage(Buffer.from("<p>naïve €"), undefined, "html").charset, "utf-8");
    const { text, charset } = decodePage(Buffer.from([0x93, 0x68, 0x69, 0x94]), undefined, "html");
    assert.deepEqual([text, charset], ["\u201chi\u201d", "windows-1252"]);
    assert.deepEqual(decodePage(Buffer.alloc(0), undefined, "html"), { text: "", charset: "utf-8" });
  });
});
